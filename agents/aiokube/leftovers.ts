import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type LedgerEntry,
  ledgerPath,
  writeLedger,
} from '../../lib/cluster/installation/ledger.ts';
import { done } from '../../lib/engine/steps/step.ts';
import type { StepBody } from '../../lib/engine/steps/within.ts';
import { exists, ifMissing, sha256OfFile } from '../../lib/host/files.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import { firstBootUnits } from '../../units/aio.ts';
import type { HostContext } from '../steps/host-context.ts';

/** Files outside the working folder that only the installation reads. */
const FILES: readonly [path: string, why: string][] = [
  ['/etc/sno-agents/executable.curl', 'the executable is fetched once'],
  [
    '/etc/sno-agents/executable-part.sha256',
    'the executable is verified by it before it is placed',
  ],
];

/**
 * Writes the leftovers ledger: exactly these files, with the contents that they have now, are
 * deleted by the next steps. From here on the rendered control plane is no longer read, so that an
 * interrupted clean-up never renders another one.
 */
export const aioLeftovers: StepBody<HostContext> = {
  name: 'leftovers',
  leaves: '/etc/sno-agents/leftovers.json: every file that only the installation needed',
  touches: ['disk'],
  retries: true,
  input: ({ cluster }) => cluster.clusterId,
  holds: ({ paths }) => exists(ledgerPath(paths)),
  async run({ paths }, { signal }) {
    const entries = [
      ...(await unitEntries(paths, signal)),
      ...(await workingFiles(paths, signal)),
      ...(await entriesOf(paths, FILES, signal)),
    ];
    // This host has no key that only an installation needs: the administrator's are never written.
    await writeLedger(paths, { entries, goneKeys: [] });
    return done(`${entries.length} files`);
  },
};

/** Everything below /opt/openshift: keys, manifests and what was rendered from them. */
async function workingFiles(paths: HostPaths, signal: AbortSignal): Promise<LedgerEntry[]> {
  const found = await readdir(paths.assets, { recursive: true, withFileTypes: true });
  const files = found
    .filter((each) => each.isFile())
    .map((each) => join(each.parentPath, each.name));
  return entriesOf(
    paths,
    files.toSorted().map((path) => [paths.onHost(path), 'the control plane was created from it']),
    signal,
  );
}

async function unitEntries(paths: HostPaths, signal: AbortSignal): Promise<LedgerEntry[]> {
  const entries = await entriesOf(
    paths,
    firstBootUnits.map(({ name }) => [
      `/etc/systemd/system/${name}`,
      'only the installation needs it',
    ]),
    signal,
  );
  return entries.map((entry) => ({
    ...entry,
    unit: entry.path.slice('/etc/systemd/system/'.length),
  }));
}

/** Those that exist. */
async function entriesOf(
  paths: HostPaths,
  files: readonly (readonly [path: string, why: string])[],
  signal: AbortSignal,
): Promise<LedgerEntry[]> {
  const entries: LedgerEntry[] = [];
  for (const [path, why] of files) {
    const sha256 = await sha256OfFile(paths.at(path), signal).catch(ifMissing);
    if (sha256 !== undefined) entries.push({ path, sha256, why, when: 'steady-state' });
  }
  return entries;
}
