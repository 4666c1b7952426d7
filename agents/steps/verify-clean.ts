import { Failure } from '../../lib/base/errors/failure.ts';
import { type Ledger, readLedger } from '../../lib/cluster/installation/ledger.ts';
import { done } from '../../lib/engine/steps/step.ts';
import type { StepBody } from '../../lib/engine/steps/within.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import type { SearchedFiles } from '../../lib/secrets/scan/search-files.ts';
import type { PlainHost } from './host-context.ts';
import { inOtherDeployments, leftEntries } from './left-entries.ts';
import { searchHost } from './search-host.ts';

/**
 * Verifies that the clean-up left nothing: no path of the ledger exists, and no file on the
 * host's disks contains a private key of the bootstrap (see `searchHost`). Image layers are left out:
 * the command verify-clean searches them too.
 *
 * etcd's database is searched like any other file. It was compacted and defragmented before the
 * snapshot, so it holds no old revisions, and keys of the class *gone* are never written to the
 * API. Free blocks of the disk are not searched. A host that never had such a key is not searched.
 */
export const verifyClean: StepBody<PlainHost> = {
  name: 'verify-clean',
  leaves: 'verification that no ledger path and no bootstrap key is left',
  touches: ['disk', 'etcd'],
  input: ({ cluster }) => cluster.clusterId,
  async holds({ paths }, { signal }) {
    const ledger = await readLedger(paths);
    return ledger !== undefined && (await leftPaths(paths, ledger, signal)).length === 0;
  },
  async run({ paths, cluster }, progress) {
    const ledger = await readLedger(paths);
    if (ledger === undefined)
      throw new Failure('fatal', 'the leftovers ledger does not exist', {
        code: 'leftover-remains',
      });
    refusePaths(await leftPaths(paths, ledger, progress.signal));
    if (ledger.goneKeys.length === 0) return done(`${ledger.entries.length} paths deleted`);
    const programs = new Map([[paths.executable, cluster.executableSha256]]);
    const wanted = new Set(ledger.goneKeys);
    const search = { wanted, programs, layers: 'running' } as const;
    const searched = await searchHost(paths, search, progress.signal);
    refuseKeys(searched.found);
    for (const path of searched.incomplete) {
      progress.warn(`Searched only a part of ${path}: it expands to more than the limit`);
    }
    return done(summary(ledger, searched));
  },
};

async function leftPaths(paths: HostPaths, ledger: Ledger, signal: AbortSignal): Promise<string[]> {
  const all = [...ledger.entries, ...(await inOtherDeployments(paths, ledger))];
  return (await leftEntries(paths, all, signal)).map(({ path }) => path);
}

function refusePaths(left: readonly string[]): void {
  if (left.length === 0) return;
  throw new Failure('fatal', `files of the bootstrap still exist: ${left.join(', ')}`, {
    code: 'leftover-remains',
    expected: 'none of the paths in the leftovers ledger',
    fix: 'Find out what recreated them, delete them, and start the unit again.',
  });
}

export function refuseKeys(found: readonly string[]): void {
  if (found.length === 0) return;
  throw new Failure('fatal', `a private key of the bootstrap is in ${found.join(', ')}`, {
    code: 'leftover-remains',
    expected: 'no key that was deleted at the end of the bootstrap',
    fix: 'Delete the files or the key in them, and search again.',
  });
}

function summary({ entries }: Ledger, { files, bytes, keys }: SearchedFiles): string {
  return `${entries.length} paths deleted; searched ${files} files, ${Math.round(bytes / 1e6)} MB, ${keys.size} private keys`;
}
