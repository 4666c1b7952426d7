import {
  type LedgerEntry,
  ledgerPath,
  writeLedger,
} from '../../lib/cluster/installation/ledger.ts';
import { workerPaths } from '../../lib/cluster/workers/paths.ts';
import { done } from '../../lib/engine/steps/step.ts';
import type { StepBody } from '../../lib/engine/steps/within.ts';
import { exists, ifMissing, sha256OfFile } from '../../lib/host/files.ts';
import { firstBootUnits } from '../../units/aio.ts';
import type { PlainHost } from '../steps/host-context.ts';

const UNITS = '/etc/systemd/system/';

/** Files that only the installation reads. */
const FILES: readonly [path: string, why: string][] = [
  [workerPaths.bootstrapKubeconfig, 'it has the bootstrap token of all workers'],
  ['/etc/sno-agents/executable.curl', 'the executable is fetched once'],
  [
    '/etc/sno-agents/executable-part.sha256',
    'the executable is verified by it before it is placed',
  ],
  ...firstBootUnits.map(({ name }): [string, string] => [
    `${UNITS}${name}`,
    'only the installation needs it',
  ]),
];

/** Writes the leftovers ledger: these files, with the contents that they have now, are deleted next. */
export const workerLeftovers: StepBody<PlainHost> = {
  name: 'leftovers',
  leaves: '/etc/sno-agents/leftovers.json: every file that only the installation needed',
  touches: ['disk'],
  retries: true,
  input: ({ cluster }) => cluster.clusterId,
  holds: ({ paths }) => exists(ledgerPath(paths)),
  async run({ paths }, { signal }) {
    const entries: LedgerEntry[] = [];
    for (const [path, why] of FILES) {
      const sha256 = await sha256OfFile(paths.at(path), signal).catch(ifMissing);
      if (sha256 === undefined) continue;
      const unit = path.startsWith(UNITS) ? { unit: path.slice(UNITS.length) } : {};
      entries.push({ path, sha256, why, when: 'steady-state', ...unit });
    }
    await writeLedger(paths, { entries, goneKeys: [] });
    return done(`${entries.length} files`);
  },
};
