import { workload } from '../../checks/workload.ts';
import type { FaultResult } from '../../faults/result.ts';
import { secondsSince, type Trouble } from '../../faults/troubles.ts';

/** One row of the table. `show` fails with what is otherwise. */
export function shown(fault: string, show: () => Promise<unknown>, plan = 'installation'): Trouble {
  const row = { plan, step: 'after', fault };
  return {
    name: fault,
    row,
    meet: async () => {
      const began = performance.now();
      await show();
      return [{ ...row, outcome: 'success', seconds: secondsSince(began) } satisfies FaultResult];
    },
  };
}

/** The same of a row that later ones build on. */
export const needed = (trouble: Trouble): Trouble => ({ ...trouble, isNeeded: true });

/** A row for each check; the one that brings the image of the others' workloads is needed. */
export const shownChecks = <Check extends { readonly name: string }>(
  checks: readonly Check[],
  show: (check: Check) => Promise<unknown>,
  plan?: string,
): Trouble[] =>
  checks.map((check) => {
    const row = shown(check.name, () => show(check), plan);
    return check.name === workload.name ? needed(row) : row;
  });
