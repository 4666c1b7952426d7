import { z } from 'zod';
import {
  type DemandedRows,
  type FaultResult,
  faultResultSchema,
  isSameRow,
  WRONG,
} from '../../lab/faults/result.ts';
import { parseJson } from '../../lib/base/json.ts';

/** A row of `lab/out/faults.json`. */
const rowSchema = faultResultSchema.extend({ scenario: z.string() });
export type ScenarioFault = z.infer<typeof rowSchema>;

/** Nothing of a table that cannot be read counts. */
export const parseTable = (text: string): ScenarioFault[] =>
  z.array(rowSchema).safeParse(parseJson(text)).data ?? [];

/**
 * The rows of a scenario that has ended. One of an installation is one fault as a whole; one with several has
 * a row of each, and one more if it failed besides.
 */
export function rowsOf(
  scenario: string,
  seconds: number,
  failure: string | undefined,
  found: readonly FaultResult[] = [],
): ScenarioFault[] {
  const rows = found.map((row) => ({ scenario, ...row }));
  const whole = { scenario, plan: 'installation', step: 'every', fault: scenario, seconds };
  if (failure === undefined) return rows.length > 0 ? rows : [{ ...whole, outcome: 'success' }];
  if (rows.some(({ outcome }) => outcome === WRONG)) return rows;
  return [...rows, { ...whole, outcome: WRONG, why: failure }];
}

/** With the rows of one scenario in place of its earlier ones, in the order of the scenarios. */
export const faultTable = (
  order: readonly string[],
  table: readonly ScenarioFault[],
  rows: readonly ScenarioFault[],
): ScenarioFault[] => {
  const others = table.filter(({ scenario }) => !rows.some((row) => row.scenario === scenario));
  const all = [...others, ...rows];
  return order.flatMap((name) => all.filter(({ scenario }) => scenario === name));
};

/** Whether a scenario has rows, and no wrong one; of one with several, whether none is missing that it would have today. */
export function hasPassed(
  name: string,
  table: readonly ScenarioFault[],
  demanded: DemandedRows = {},
): boolean {
  const rows = table.filter(({ scenario }) => scenario === name);
  if (rows.length === 0 || rows.some(({ outcome }) => outcome === WRONG)) return false;
  return (demanded[name] ?? []).every((own) => rows.some((row) => isSameRow(own, row)));
}

/** For people: how many faults ended how, and what ended otherwise. */
export function summary(table: readonly ScenarioFault[], file: string): string {
  const count = (outcome: string) => table.filter((row) => row.outcome === outcome).length;
  const outcomes = [...new Set(table.map(({ outcome }) => outcome))].toSorted(
    (a, b) => count(b) - count(a),
  );
  const minutes = Math.round(table.reduce((sum, { seconds }) => sum + seconds, 0) / 60);
  const counted = outcomes.map((outcome) => `  ${String(count(outcome)).padStart(4)}  ${outcome}`);
  const wrong = table.filter(({ outcome }) => outcome === WRONG);
  return [
    `${table.length} faults in ${minutes} min; lab/out/${file}`,
    ...counted,
    ...wrong.map(
      ({ plan, step, fault, why }) => `  ${WRONG}: ${plan}, ${fault} in ${step}: ${why}`,
    ),
    '',
  ].join('\n');
}
