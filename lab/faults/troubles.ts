import { dirname } from 'node:path';
import { describeError, Failure } from '../../lib/base/errors/failure.ts';
import type { Hosts } from '../host/hosts.ts';
import type { LabContext, ScenarioStep } from '../scenario.ts';
import {
  type FaultResult,
  type FaultRow,
  isSameRow,
  MACHINE_FILE,
  passedIn,
  readFaults,
  WRONG,
  writeFaults,
} from './result.ts';

/** One fault, or one plan with many kills. */
export interface Trouble {
  readonly name: string;
  /** Its row in the table if it ends otherwise. */
  readonly row: FaultRow;
  /** Its rows if it does not. Default: `row`. */
  readonly rows?: readonly FaultRow[];
  /** Not left out: later ones need what it leaves. */
  readonly isNeeded?: boolean;
  meet(): Promise<readonly FaultResult[]>;
}

/** The run is there once its scenario runs; what it meets is known before. */
export type TroublesOf<Run> = (run: () => Run) => readonly Trouble[];

const noRun = (): never => {
  throw new Error('no scenario runs');
};

/** What the table has of a scenario once it has passed. */
export const demandedOf = (troubles: TroublesOf<never>): FaultRow[] => rowsIn(troubles(noRun));

/** What the table has of them if all end as they have to. */
export const rowsIn = (troubles: readonly Pick<Trouble, 'row' | 'rows'>[]): FaultRow[] =>
  troubles.flatMap(({ row, rows = [row] }) => rows);

/** Seconds since then, as a table has them. */
export const secondsSince = (began: number): number =>
  Math.round((performance.now() - began) / 100) / 10;

/**
 * Each trouble is met, whatever came of those before; `faults.json` in the scenario's folder has the table.
 *
 * @param resume leaves out what has passed in the table of all scenarios, or in the last run of this one
 */
export function meetAll(
  troubles: readonly Trouble[],
  {
    signal,
    out,
    hosts,
    resume,
  }: Pick<LabContext, 'signal' | 'out' | 'resume'> & {
    readonly hosts: Pick<Hosts, 'are'>;
  },
): ScenarioStep[] {
  const table: FaultResult[] = [];
  const start = {
    title: 'Read what has passed',
    run: async () => {
      if (!resume) return;
      const last = (await readFaults(out)) ?? [];
      const tableOfAll = hosts.are === 'machines' ? MACHINE_FILE : undefined;
      const all = (await readFaults(dirname(out), tableOfAll)) ?? [];
      const earlier = [...last, ...all.filter((row) => !last.some((own) => isSameRow(own, row)))];
      const optional = troubles.filter(({ isNeeded = false }) => !isNeeded);
      table.push(...optional.flatMap((trouble) => passedIn(earlier, trouble)));
    },
  };
  const steps = troubles.map((trouble) => ({
    title: trouble.name,
    run: async () => {
      if (passedIn(table, trouble).length > 0) return;
      const began = performance.now();
      try {
        table.push(...(await trouble.meet()));
      } catch (error) {
        signal.throwIfAborted();
        const why = describeError(error);
        table.push({ ...trouble.row, outcome: WRONG, why, seconds: secondsSince(began) });
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
