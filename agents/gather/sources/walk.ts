import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ifMissing } from '../../../lib/host/files.ts';

export interface WalkLimits {
  /** Levels of folders, including the first one. */
  readonly depth: number;
  /** Maximum number of entries visited, folders included; the rest is left out. */
  readonly entries: number;
}

export const walkLimits: WalkLimits = { depth: 6, entries: 5000 };

/** An entry below a folder, by its relative path. */
export interface FoundFile {
  readonly name: string;
  readonly kind: 'file' | 'link';
}

/**
 * Files and links below a folder, sorted within each folder; none if it does not exist.
 * Links are not followed; sockets and devices are left out.
 */
export async function below(folder: string, limits: WalkLimits = walkLimits): Promise<FoundFile[]> {
  const found: FoundFile[] = [];
  let left = limits.entries;
  const visit = async (inside: string, depth: number): Promise<void> => {
    const entries = await readdir(join(folder, inside), { withFileTypes: true }).catch(ifMissing);
    for (const entry of (entries ?? []).toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      if (left-- <= 0) return;
      const name = join(inside, entry.name);
      if (entry.isFile()) found.push({ name, kind: 'file' });
      if (entry.isSymbolicLink()) found.push({ name, kind: 'link' });
      if (entry.isDirectory() && depth > 1) await visit(name, depth - 1);
    }
  };
  await visit('', limits.depth);
  return found;
}

/** /var/log/pods: `NAMESPACE_POD_UID/CONTAINER/N.log`, of all pods that a host may have. */
export const POD_LOGS: WalkLimits = { depth: 3, entries: 20_000 };
