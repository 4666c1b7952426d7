import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Folders of Go modules whose libraries have the versions that the lab's Kubernetes has: they are compiled once for all. */
export const ALIGNED_MODULES: readonly string[] = ['coredns', 'local-path-provisioner'].map(
  (name) => join(import.meta.dirname, name),
);

/** The modules that go.mod of a folder requires, with their versions; those of Kubernetes as they are replaced. */
export async function modulesOf(folder: string): Promise<ReadonlyMap<string, string>> {
  const text = await readFile(join(folder, 'go.mod'), 'utf8');
  const required = text.matchAll(/^(?:require |\t)(\S+) (v\S+)(?: \/\/ indirect)?$/gm);
  const replaced = text.matchAll(/^(?:replace |\t)(\S+) => \1 (v\S+)$/gm);
  return new Map(
    [...required, ...replaced].map(([, module = '', version = '']) => [module, version]),
  );
}
