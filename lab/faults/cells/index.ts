import { AllInOne } from '../../all-in-one.ts';
import { kubectl } from '../../checks/kubectl.ts';
import { eventually } from '../../eventually.ts';
import { scenarioOf } from '../../installation.ts';
import type { Scenario } from '../../scenario.ts';
import { type DemandedRows, EVERY_STEP, type FaultResult } from '../result.ts';
import { meetAll, rowsIn, type Trouble } from '../troubles.ts';
import { runKilled } from './killed.ts';
import { plansUnderTest } from './plans.ts';
import { nameOf, runCell } from './run-cell.ts';
import { type Cell, cells, dailyCells, requestedCells } from './table.ts';

/** A kubelet that starts while etcd is down starts it after two minutes; the API server may notice a minute later. */
const READY_MS = 6 * 60_000;

/** A trouble of an installed host. */
type HostTrouble = Omit<Trouble, 'meet'> & {
  meet(run: AllInOne): Promise<readonly FaultResult[]>;
};

/** An installed host that meets one trouble after another, each once it is ready. */
const troubled =
  (troubles: readonly HostTrouble[]): Scenario =>
  (context) => {
    const run = new AllInOne(context);
    const ready = () => kubectl(run.cluster, ['get', '--raw', '/readyz'], context.signal);
    const onHost = troubles.map(({ meet, ...trouble }) => ({
      ...trouble,
      meet: async () => {
        await eventually(ready, READY_MS, context.signal);
        return meet(run);
      },
    }));
    return scenarioOf(run, [
      ...run.stepsToDisk(),
      { title: 'Boot from the disk', run: async () => void (await run.bootInstalled()) },
      { title: 'Set up the cluster', run: (report) => run.finish(report) },
      ...meetAll(onHost, context),
    ]);
  };

const faultsIn = (cells: readonly Cell[]): HostTrouble[] =>
  cells.map((cell) => ({
    name: nameOf(cell),
    row: { plan: cell.plan.agent, step: cell.step, fault: cell.fault },
    meet: async (run) => [await runCell(run, cell)],
  }));

const { rotate: _, update: __, updateOnTime: ___, ...killed } = plansUnderTest;

/** Of variants of a plan, the largest. */
const kills: readonly HostTrouble[] = Object.values(killed).map((plan) => ({
  name: `${plan.agent}, killed in every step`,
  row: { plan: plan.agent, step: EVERY_STEP, fault: 'killed' },
  rows: plan.steps.map(({ name }) => ({ plan: plan.agent, step: name, fault: 'killed' })),
  meet: (run) => runKilled(run, plan),
}));

/** What an installed host can meet; the table is in docs/reference/faults.md. */
const troubles: readonly (readonly [scenario: string, troubles: readonly HostTrouble[]])[] = [
  ['fault-cells', faultsIn(dailyCells)],
  ['fault-cells-on-request', faultsIn(requestedCells)],
  ['node-killed-in-every-step', kills],
];

export const faultCells: Readonly<Record<string, Scenario>> = Object.fromEntries(
  troubles.map(([name, each]) => [name, troubled(each)]),
);

/** What the table has of each once it has passed. */
export const faultCellRows: DemandedRows = Object.fromEntries(
  troubles.map(([name, each]) => [name, rowsIn(each)]),
);

const powerCuts = faultsIn(cells.filter(({ fault }) => fault === 'power cut'));

/** Of those, where the power fails: on a machine, what was not flushed is gone. */
export const powerCutInPlans: Scenario = troubled(powerCuts);
export const powerCutRows = rowsIn(powerCuts);
