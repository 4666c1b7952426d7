import { dirname } from 'node:path';
import type { KeyClass, RenderedDirectory, RenderedFile, Stage } from '../renderer.ts';

interface FileOptions {
  /** Default `both`: the same bytes before and after the reboot, so that pods go on. */
  stage?: Stage;
  leftover?: string;
}

/** A file that anybody may read: certificates, policies. */
export function publicFile(
  path: string,
  contents: string,
  options: FileOptions = {},
): RenderedFile {
  return { path, mode: 0o644, contents, stage: 'both', ...options };
}

/** A file for root alone that holds no key itself, such as a kubeconfig that names one. */
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
 * The folders of the rendered files below the given roots, closed to all but root.
 * A folder is needed where any of its files is.
 */
export function closedDirectories(
  files: readonly RenderedFile[],
  roots: readonly string[],
): RenderedDirectory[] {
  const stages = new Map<string, Stage>();
  for (const { path, stage } of files) {
    for (const folder of ancestors(path, roots)) {
      const known = stages.get(folder);
      stages.set(folder, known === undefined || known === stage ? stage : 'both');
    }
  }
  return [...stages]
    .map(([path, stage]) => ({ path, mode: 0o700, stage }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
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
