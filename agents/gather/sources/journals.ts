import { type GatherHost, own, ownUnits } from '../gather-host.ts';
import type { Source, SourceGroup } from '../source.ts';
import { type Boot, listBoots } from './boots.ts';
import { journal, journalRecords } from './journal.ts';
import { failedUnits, journalUnits, logName } from './units.ts';

/** journalctl seeks from the end: about the newest 4 MiB of a unit, whatever its size. */
const NEWEST = '--lines=30000';
/** A host in a reboot loop has hundreds; the newest ones show why. */
const MAX_BOOTS = 32;

const whole = {
  phase: 'bulk',
  deadlineMs: 90_000,
  limitBytes: 4 * 1024 ** 3,
  gzipped: true,
} as const;

/** The journals of this boot. */
export const journals: SourceGroup = {
  name: 'journals',
  deadlineMs: 8000,
  async list(host, signal) {
    const [units, failed, boots] = await Promise.all([
      journalUnits(signal),
      failedUnits(signal),
      listBoots(signal).catch(() => []),
    ]);
    const now = thisBoot(boots);
    const ofUnit = (path: string, unit: string) =>
      journal(host, path, [now, NEWEST, `--unit=${unit}`]);
    return [
      ...failed.map((unit) => ofUnit(ownUnits(host, `unit-status/${unit}.log`), unit)),
      ...units.map((unit) => ofUnit(own(host, `journals/${logName(unit)}.log`), unit)),
      journal(host, own(host, 'journals/kernel.log'), [now, '--dmesg', NEWEST]),
      // Of the audit records, SELinux denials (AVC), by their number.
      journal(host, own(host, 'journals/selinux-denials.log'), [
        now,
        '--lines=5000',
        '_AUDIT_TYPE=1400',
      ]),
      journalRecords(host, own(host, 'journals/errors.jsonl'), [now, '--priority=err']),
      ...(boots.some(({ index }) => index === -1)
        ? [
            journalRecords(host, own(host, 'journals/previous-errors.jsonl'), [
              '--boot=-1',
              '--priority=err',
            ]),
          ]
        : []),
      journal(host, own(host, 'journals/journal.log.gz'), [now], { ...whole, givesWay: 1 }),
    ];
  },
};

/**
 * By the boot id in the journal: the kernel's boot id, journalctl's default, differs inside a
 * container, as seen from a unit's sandbox.
 */
function thisBoot(boots: readonly Boot[]): string {
  const newest = boots.find(({ index }) => index === 0);
  return newest === undefined ? '--boot' : `--boot=${newest.boot_id}`;
}

/** The journals of earlier boots, newest first: what does not fit into the bundle is the oldest. */
export const previousJournals: SourceGroup = {
  name: 'journals',
  // Before 253, journalctl looks up boots one by one.
  deadlineMs: 15_000,
  async list(host, signal) {
    const boots = await listBoots(signal);
    return wantedBoots(boots, host).map(({ index }): Source => {
      const path = own(host, `journals/journal-${-index}.log.gz`);
      return journal(host, path, [`--boot=${index}`], { ...whole, givesWay: 1 - index });
    });
  },
};

/** Earlier boots that ended after the requested time. */
export function wantedBoots(
  boots: readonly Boot[],
  { sinceMs = 0 }: Pick<GatherHost, 'sinceMs'>,
): Boot[] {
  return boots
    .filter(({ index, last_entry = Infinity }) => index < 0 && last_entry / 1000 >= sinceMs)
    .toSorted((a, b) => b.index - a.index)
    .slice(0, MAX_BOOTS);
}
