import { join } from 'node:path';
import { describeError, Failure } from '../../../lib/errors/failure.ts';
import { writeFileAtomic } from '../../../lib/host/files.ts';
import { AllInOne } from '../../all-in-one.ts';
import { kubectl } from '../../checks/kubectl.ts';
import { eventually } from '../../eventually.ts';
import { type Report, scenarioOf } from '../../installation.ts';
import type { Scenario } from '../../scenario.ts';
import { runCell } from './run-cell.ts';
import { type Cell, cells } from './table.ts';

const READY_MS = 3 * 60_000;

/**
 * The plans of an installed host, with one fault after another. Every cell is run, whatever came of those before;
 * `faults.json` in the scenario's folder has the table.
 */
export const faultCells: Scenario = (context) => {
  const run = new AllInOne(context);
  const { signal, out } = context;
  const table: object[] = [];
  const failed: string[] = [];
  const runOne = async (cell: Cell, report: Report) => {
    const { plan, step, fault } = cell;
    report(`${plan.agent}, ${fault} in ${step}`);
    const ready = () => kubectl(run.cluster, ['get', '--raw', '/readyz'], signal);
    await eventually(ready, READY_MS, signal);
    try {
      table.push(await runCell(run, cell));
    } catch (error) {
      signal.throwIfAborted();
      failed.push(describeError(error));
      table.push({ plan: plan.agent, step, fault, ended: 'WRONG', why: describeError(error) });
    }
    await writeFileAtomic(join(out, 'faults.json'), `${JSON.stringify(table, null, 2)}\n`, 0o644);
  };
  return scenarioOf(run, [
    ...run.stepsToDisk(),
    { title: 'Boot from the disk', run: async () => void (await run.bootInstalled()) },
    { title: 'Set up the cluster', run: (report) => run.finish(report) },
    {
      title: `${cells.length} faults, each in a plan`,
      run: async (report) => {
        for (const cell of cells) await runOne(cell, report);
        if (failed.length === 0) return;
        throw new Failure('fatal', `${failed.length} of ${cells.length} faults ended otherwise`, {
          found: failed.join('\n'),
        });
      },
    },
  ]);
};
