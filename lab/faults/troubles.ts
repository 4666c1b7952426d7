import { dirname } from 'node:path';
import { describeError, Failure } from '../../lib/errors/failure.ts';
import type { LabContext, ScenarioStep } from '../scenario.ts';
import { type FaultResult, passedIn, readFaults, WRONG, writeFaults } from './result.ts';

/** One fault, or one plan with many kills. */
export interface Trouble {
  readonly name: string;
  /** Of its row in the table if it ends otherwise. Step `every`: if it does not, it has a row of each step. */
  readonly row: Pick<FaultResult, 'plan' | 'step' | 'fault'>;
  meet(): Promise<readonly FaultResult[]>;
}

/** Seconds since then, as a table has them. */
export const secondsSince = (began: number): number =>
  Math.round((performance.now() - began) / 100) / 10;

/**
 * Each trouble is met, whatever came of those before; `faults.json` in the scenario's folder has the table.
 *
 * @param resume leaves out what has passed in the table of all scenarios
 */
export function meetAll(
  troubles: readonly Trouble[],
  { signal, out, resume = false }: Pick<LabContext, 'signal' | 'out'> & { resume?: boolean },
): ScenarioStep[] {
  const table: FaultResult[] = [];
  const start = {
    title: 'Read what has passed',
    run: async () => {
      const earlier = resume ? await readFaults(dirname(out)) : undefined;
      table.push(...troubles.flatMap(({ row }) => passedIn(earlier ?? [], row)));
    },
  };
  const steps = troubles.map(({ name, row, meet }) => ({
    title: name,
    run: async () => {
      if (passedIn(table, row).length > 0) return;
      const began = performance.now();
      try {
        table.push(...(await meet()));
      } catch (error) {
        signal.throwIfAborted();
        const why = describeError(error);
        table.push({ ...row, outcome: WRONG, why, seconds: secondsSince(began) });
      }
      await writeFaults(out, table);
    },
  }));
  const end = {
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
  };
  return [start, ...steps, end];
}
