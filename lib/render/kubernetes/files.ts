import { dirname } from 'node:path';
import { FILE_USES, type FileUse } from '../hosts.ts';
import type { KeyClass, RenderedDirectory, RenderedFile } from '../renderer.ts';

interface FileOptions {
  /** Default: the control plane's; the contents are the same before and after a pivot, so that pods keep running. */
  uses?: readonly FileUse[];
  leftover?: string;
}

/** A world-readable file: certificates, policies. */
export function publicFile(
  path: string,
  contents: string,
  options: FileOptions = {},
): RenderedFile {
  return { path, mode: 0o644, contents, uses: ['control-plane'], ...options };
}

/** A file that only root can read but that contains no key, such as a kubeconfig that names one. */
export function privateFile(
  path: string,
  contents: string,
  options: FileOptions = {},
): RenderedFile {
  return { ...publicFile(path, contents, options), mode: 0o600 };
}

export function keyFile(
  path: string,
  contents: string,
  keyClass: KeyClass,
  options: FileOptions = {},
): RenderedFile {
  return { ...privateFile(path, contents, options), keyClass };
}

/**
 * The folders of the rendered files under the given roots, accessible to root only.
 * A folder has the uses of all files in it.
 */
export function closedDirectories(
  files: readonly RenderedFile[],
  roots: readonly string[],
): RenderedDirectory[] {
  const usesOf = new Map<string, FileUse[]>();
  for (const { path, uses } of files) {
    for (const folder of ancestors(path, roots)) {
      usesOf.set(folder, [...(usesOf.get(folder) ?? []), ...uses]);
    }
  }
  return [...usesOf.keys()].toSorted().map((path) => ({
    path,
    mode: 0o700,
    uses: FILE_USES.filter((use) => usesOf.get(path)?.includes(use)),
  }));
}

function ancestors(path: string, roots: readonly string[]): string[] {
  const root = roots.find((candidate) => path.startsWith(`${candidate}/`));
  if (root === undefined) return [];
  const found = [];
  for (let folder = dirname(path); folder.length >= root.length; folder = dirname(folder)) {
    found.push(folder);
  }
  return found;
}
