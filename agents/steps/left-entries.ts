import { isLeft, type Ledger, type LedgerEntry } from '../../lib/cluster/installation/ledger.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import { otherDeployments } from './other-deployments.ts';

const ETC = '/etc/';

/** Entries of the ledger whose files are still there, with the contents of the bootstrap. */
export async function leftEntries(
  paths: HostPaths,
  entries: readonly LedgerEntry[],
  signal: AbortSignal,
): Promise<LedgerEntry[]> {
  const left: LedgerEntry[] = [];
  for (const entry of entries) if (await isLeft(paths, entry, signal)) left.push(entry);
  return left;
}

/** The same entries in the /etc that an update of the operating system has left. */
export async function inOtherDeployments(
  paths: HostPaths,
  { entries }: Pick<Ledger, 'entries'>,
): Promise<LedgerEntry[]> {
  const deployments = await otherDeployments(paths);
  const ofEtc = entries.filter(({ path }) => path.startsWith(ETC));
  return deployments.flatMap((etc) =>
    ofEtc.map((entry) => ({ ...entry, path: `${etc}/${entry.path.slice(ETC.length)}` })),
  );
}
