import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DATABASE_FILE } from '../../../lib/change/backup/manifest.ts';
import { diskFull, diskNearlyFull, type State } from '../../bundle/states.ts';
import type { Host } from '../../host/host.ts';
import { fullUntilImported } from './before-kubelet.ts';
import { dueLeaf } from './daily.ts';
import { clockOff, faultsOfHost, halfWritten, journalTorn } from './faults.ts';
import type { NamedError } from './named-errors.ts';
import type { PlanUnderTest } from './plan.ts';
import { plansUnderTest } from './plans.ts';
import { cutWhileGoingBack } from './trial.ts';

/** The power has failed, and nothing starts the plan again but its next day or its person. */
export const INTERRUPTED = 'interrupted';

/** One fault in one step of one plan. */
export interface Cell {
  readonly plan: PlanUnderTest;
  /** The fault begins when this step does; `before`: before the plan. */
  readonly step: string;
  readonly fault: string;
  readonly state: State;
  /** How the run with the fault may end besides success: then the next one, without it, must succeed. */
  readonly mayFail: readonly (NamedError | typeof INTERRUPTED)[];
}

const { renew, backup, approve, payload, certificates } = plansUnderTest;
const { restore, rotate, rotateEtcd, rename, update, updateOnTime, trial } = plansUnderTest;
const BEFORE = 'before';

type HostFault = keyof typeof faultsOfHost;
type MayFail = Cell['mayFail'];

const cell = (
  plan: PlanUnderTest,
  step: string,
  fault: HostFault,
  mayFail: MayFail = [],
): Cell => ({ plan, step, fault, state: faultsOfHost[fault], mayFail });

/** Days and years, both ways: what a wrong date and a dead battery make of a clock. */
const CLOCKS = [1, -1, 365, -365] as const;
type Days = (typeof CLOCKS)[number];

export const clockFault = (days: Days): string => `clock ${days > 0 ? '+' : ''}${days} d`;

const clocks = (
  plan: PlanUnderTest,
  { days = CLOCKS, mayFail = () => [] }: { days?: readonly Days[]; mayFail?: (d: Days) => MayFail },
): Cell[] =>
  days.map((each) => ({
    plan,
    step: BEFORE,
    fault: clockFault(each),
    state: clockOff(plan.agent, each),
    mayFail: mayFail(each),
  }));

export const TORN = 'journal torn';

const torn = (plan: PlanUnderTest): Cell => ({
  plan,
  step: BEFORE,
  fault: TORN,
  state: journalTorn(plan.agent),
  mayFail: [],
});

const BACKUPS = '/var/lib/sno-agents/backups';

async function newestSnapshot({ rootDir }: Host): Promise<string> {
  const names = await readdir(join(rootDir, BACKUPS));
  const newest =
    names
      .filter((name) => !name.startsWith('.'))
      .toSorted()
      .at(-1) ?? '';
  return join(BACKUPS, newest, DATABASE_FILE);
}

/** The plans that run every day, and before each start of the kubelet. One after another on one host. */
export const dailyCells: readonly Cell[] = [
  cell(renew, BEFORE, 'disk full', ['journal-unwritable', 'disk-full', 'renewal-failed']),
  cell(renew, 'renew-leaves', 'API hanging', ['renewal-failed']),
  cell(renew, 'renew-leaves', 'etcd hanging', ['renewal-failed']),
  cell(renew, 'renew-leaves', 'etcd killed', ['renewal-failed']),
  cell(renew, BEFORE, 'DNS gone'),
  cell(renew, BEFORE, 'slow disk'),
  torn(renew),
  {
    plan: renew,
    step: BEFORE,
    fault: 'certificate half written',
    state: halfWritten(async () => dueLeaf.certificate),
    mayFail: ['renewal-failed'],
  },
  ...clocks(renew, { mayFail: () => ['renewal-failed'] }),

  cell(backup, BEFORE, 'disk full', ['backup-no-space', 'journal-unwritable']),
  cell(backup, BEFORE, 'API hanging'),
  cell(backup, 'create', 'etcd hanging'),
  cell(backup, 'create', 'etcd killed'),
  cell(backup, BEFORE, 'DNS gone'),
  cell(backup, BEFORE, 'slow disk'),
  torn(backup),
  // With a clock at which its certificates are not valid, etcd cannot be asked.
  ...clocks(backup, {
    mayFail: (days) => (Math.abs(days) > 300 ? ['deadline', 'rpc-failed'] : []),
  }),
  cell(backup, 'create', 'power cut', [INTERRUPTED]),

  cell(approve, BEFORE, 'API hanging'),
  torn(approve),
  // Of an entry that ends, to this clock, more than two weeks ahead nothing is expected.
  ...clocks(approve, { days: [1, -365], mayFail: () => ['usage'] }),

  cell(payload, BEFORE, 'disk full', ['journal-unwritable']),
  torn(payload),
  cell(certificates, BEFORE, 'disk full', ['journal-unwritable', 'leaf-not-signed']),
  torn(certificates),
  ...clocks(certificates, { days: [-1, 365] }),
];

/** What changes a whole host on request, and continues by itself at a boot. On a host of their own. */
export const requestedCells: readonly Cell[] = [
  // With so little room that the request can be written, and no database.
  {
    plan: restore,
    step: BEFORE,
    fault: 'disk full',
    state: fullUntilImported(diskNearlyFull),
    mayFail: ['restore-undone'],
  },
  {
    plan: restore,
    step: 'rebuild',
    fault: 'snapshot half written',
    state: halfWritten(newestSnapshot),
    mayFail: ['restore-undone'],
  },
  torn(restore),
  cell(restore, 'replace', 'power cut'),
  cell(restore, 'steady-state', 'etcd hanging', ['restore-undone']),
  cell(restore, 'steady-state', 'API hanging', ['restore-undone']),

  torn(rotate),
  cell(rotate, 'use-new', 'power cut'),
  cell(rotate, 'use-new', 'API hanging', ['rotation-rolled-back']),
  cell(rotateEtcd, 'trust-both', 'etcd hanging', ['rotation-rolled-back']),
  ...clocks(rotate, { days: [-1, 365], mayFail: () => ['rotation-rolled-back'] }),

  torn(rename),
  cell(rename, 'objects', 'power cut'),
  cell(rename, 'objects', 'API hanging'),
  cell(rename, 'objects', 'etcd hanging'),
  cell(rename, BEFORE, 'DNS gone'),
  ...clocks(rename, { days: [1, -365] }),

  {
    plan: update,
    step: 'stage',
    fault: 'disk full',
    state: fullUntilImported(diskFull),
    mayFail: ['update-refused', 'journal-unwritable'],
  },
  torn(update),
  cell(update, 'switch', 'power cut'),
  cell(update, 'settle', 'API hanging', ['update-reverted']),
  cell(update, 'settle', 'etcd hanging', ['update-reverted']),
  cell(update, BEFORE, 'DNS gone'),
  ...clocks(updateOnTime, { days: [-1, 365], mayFail: () => ['update-refused'] }),

  torn(trial),
  // The host is off until the step begins, at its restart.
  {
    plan: trial,
    step: BEFORE,
    fault: 'power cut',
    state: cutWhileGoingBack('files'),
    mayFail: [],
  },
];

export const cells: readonly Cell[] = [...dailyCells, ...requestedCells];
