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
import type { PlainHost } from './host-context.ts';

const UNITS = '/etc/systemd/system/';

type Leftover = readonly [path: string, why: string];

/** Files of a host that is installed at the first boot of its disk, which only the installation reads. */
export const FIRST_BOOT_FILES: readonly Leftover[] = [
  ['/etc/sno-agents/executable.curl', 'the executable is fetched once'],
  [
    '/etc/sno-agents/executable-part.sha256',
    'the executable is verified by it before it is placed',
  ],
];
export const FIRST_BOOT_UNITS: readonly Leftover[] = firstBootUnits.map(({ name }) => [
  `${UNITS}${name}`,
  'only the installation needs it',
]);

/** Writes the leftovers ledger: these files, with the contents that they have now, are deleted next. */
export const firstBootLeftovers = (
  filesOf: (paths: HostPaths) => Promise<readonly Leftover[]>,
): StepBody<PlainHost> => ({
  name: 'leftovers',
  leaves: '/etc/sno-agents/leftovers.json: every file that only the installation needed',
  touches: ['disk'],
  retries: true,
  input: ({ cluster }) => cluster.clusterId,
  holds: ({ paths }) => exists(ledgerPath(paths)),
  async run({ paths }, { signal }) {
    const entries: LedgerEntry[] = [];
    for (const [path, why] of await filesOf(paths)) {
      const sha256 = await sha256OfFile(paths.at(path), signal).catch(ifMissing);
      if (sha256 === undefined) continue;
      const unit = path.startsWith(UNITS) ? { unit: path.slice(UNITS.length) } : {};
      entries.push({ path, sha256, why, when: 'steady-state', ...unit });
    }
    // These hosts have no key that only an installation needs: the administrator's are never written.
    await writeLedger(paths, { entries, goneKeys: [] });
    return done(`${entries.length} files`);
  },
});
