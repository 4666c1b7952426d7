import { cpSync, rmSync } from 'node:fs';
import type { Test } from 'tap';
import { arrived } from './site-host.ts';

/** A host at which a volume has arrived, and which can be made again as it was when `keep` was called. */
export async function keptHost(t: Test, config: string) {
  const it = await arrived(t, { config });
  const kept = `${it.host.root}.kept`;
  return {
    ...it,
    keep: () => cpSync(it.host.root, kept, { recursive: true, verbatimSymlinks: true }),
    again() {
      rmSync(it.host.root, { recursive: true });
      cpSync(kept, it.host.root, { recursive: true, verbatimSymlinks: true });
      return it;
    },
  };
}
