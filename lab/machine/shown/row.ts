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
