import type { FailureCode } from '../../../lib/errors/codes.ts';
import type { State } from '../../bundle/states.ts';
import { clockOff, faultsOfHost, halfWritten, journalTorn } from './faults.ts';
import { dueLeaf, type PlanUnderTest, plansUnderTest } from './plans.ts';

/** One fault in one step of one plan. */
export interface Cell {
  readonly plan: PlanUnderTest;
  /** The fault begins when this step does; `before`: before the plan. */
  readonly step: string;
  readonly fault: string;
  readonly state: State;
  /** How the run with the fault may end besides success: then the next one, without it, must succeed. */
  readonly mayFail: readonly FailureCode[];
}

const { renew, backup } = plansUnderTest;
const BEFORE = 'before';

type HostFault = keyof typeof faultsOfHost;

const cell = (
  plan: PlanUnderTest,
  step: string,
  fault: HostFault,
  mayFail: readonly FailureCode[] = [],
): Cell => ({ plan, step, fault, state: faultsOfHost[fault], mayFail });

/** Days and years, both ways: what a wrong date and a dead battery make of a clock. */
const CLOCKS = [1, -1, 365, -365] as const;

const clocks = (
  plan: PlanUnderTest,
  mayFail: (days: number) => readonly FailureCode[] = () => [],
): Cell[] =>
  CLOCKS.map((days) => ({
    plan,
    step: BEFORE,
    fault: `clock ${days > 0 ? '+' : ''}${days} d`,
    state: clockOff(plan.agent, days),
    mayFail: mayFail(days),
  }));

const torn = (plan: PlanUnderTest): Cell => ({
  plan,
  step: BEFORE,
  fault: 'journal torn',
  state: journalTorn(plan.agent),
  mayFail: [],
});

/** Run one after another on one host. */
export const cells: readonly Cell[] = [
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
  ...clocks(renew, () => ['renewal-failed']),

  cell(backup, BEFORE, 'disk full', ['backup-no-space', 'journal-unwritable']),
  cell(backup, BEFORE, 'API hanging'),
  cell(backup, 'create', 'etcd hanging'),
  cell(backup, 'create', 'etcd killed'),
  cell(backup, BEFORE, 'DNS gone'),
  cell(backup, BEFORE, 'slow disk'),
  torn(backup),
  // With a clock at which its certificates are not valid, etcd cannot be asked.
  ...clocks(backup, (days) => (Math.abs(days) > 300 ? ['deadline', 'rpc-failed'] : [])),
];
