import { dirname } from 'node:path';
import { describeError, Failure } from '../../../lib/errors/failure.ts';
import { AllInOne } from '../../all-in-one.ts';
import { kubectl } from '../../checks/kubectl.ts';
import { eventually } from '../../eventually.ts';
import { type Report, scenarioOf } from '../../installation.ts';
import type { Scenario } from '../../scenario.ts';
import {
  EVERY_STEP,
  type FaultResult,
  passedIn,
  readFaults,
  WRONG,
  writeFaults,
} from '../result.ts';
import { runKilled } from './killed.ts';
import { plansUnderTest } from './plans.ts';
import { nameOf, runCell } from './run-cell.ts';
import { type Cell, dailyCells, requestedCells } from './table.ts';

/** A kubelet that starts while etcd is down starts it after two minutes; the API server may notice a minute later. */
const READY_MS = 6 * 60_000;

/** One fault, or one plan with many kills. */
interface Trouble {
  readonly name: string;
  /** Of its row in the table if it ends otherwise. Step `every`: if it does not, it has a row of each step. */
  readonly row: Pick<FaultResult, 'plan' | 'step' | 'fault'>;
  meet(run: AllInOne): Promise<readonly FaultResult[]>;
}

/**
 * An installed host that meets one trouble after another. Each is tried, whatever came of those before;
 * `faults.json` in the scenario's folder has the table.
 */
const troubled =
  (troubles: readonly Trouble[]): Scenario =>
  (context) => {
    const run = new AllInOne(context);
    const { signal, out, resume } = context;
    const table: FaultResult[] = [];
    const meet = async ({ name, row, meet }: Trouble, report: Report) => {
      report(name);
      if (passedIn(table, row).length > 0) return;
      const began = performance.now();
      try {
        const ready = () => kubectl(run.cluster, ['get', '--raw', '/readyz'], signal);
        await eventually(ready, READY_MS, signal);
        table.push(...(await meet(run)));
      } catch (error) {
        signal.throwIfAborted();
        const seconds = Math.round((performance.now() - began) / 100) / 10;
        table.push({ ...row, outcome: WRONG, why: describeError(error), seconds });
      }
      await writeFaults(out, table);
    };
    return scenarioOf(run, [
      {
        title: 'Read what has passed',
        run: async () => {
          if (!resume) return;
          // That of all scenarios.
          const earlier = (await readFaults(dirname(out))) ?? [];
          table.push(...troubles.flatMap(({ row }) => passedIn(earlier, row)));
        },
      },
      ...run.stepsToDisk(),
      { title: 'Boot from the disk', run: async () => void (await run.bootInstalled()) },
      { title: 'Set up the cluster', run: (report) => run.finish(report) },
      ...troubles.map((trouble) => ({
        title: trouble.name,
        run: (report: Report) => meet(trouble, report),
      })),
      {
        title: 'All ended as they have to',
        run: async () => {
          const wrong = table.filter(({ outcome }) => outcome === WRONG);
          if (wrong.length === 0) return;
          throw new Failure('fatal', `${wrong.length} of ${table.length} faults ended otherwise`, {
            found: wrong
              .map(({ plan, step, fault, why }) => `${plan}, ${fault} in ${step}: ${why}`)
              .join('\n'),
          });
        },
      },
    ]);
  };

const faultsIn = (cells: readonly Cell[]): Trouble[] =>
  cells.map((cell) => ({
    name: nameOf(cell),
    row: { plan: cell.plan.agent, step: cell.step, fault: cell.fault },
    meet: async (run) => [await runCell(run, cell)],
  }));

const { rotate: _, update: __, updateOnTime: ___, ...killed } = plansUnderTest;

/** Of variants of a plan, the largest. */
const kills: readonly Trouble[] = Object.values(killed).map((plan) => ({
  name: `${plan.agent}, killed in every step`,
  row: { plan: plan.agent, step: EVERY_STEP, fault: 'killed' },
  meet: (run) => runKilled(run, plan),
}));

/** What an installed host can meet; the table is in docs/reference/faults.md. */
export const faultCells: Scenario = troubled(faultsIn(dailyCells));
export const requestedFaultCells: Scenario = troubled(faultsIn(requestedCells));
export const nodeKilledInEveryStep: Scenario = troubled(kills);
