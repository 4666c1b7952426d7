/**
 * `npm run test:faults [-- [--resume] NAME...]`: every fault of lab/faults on real hosts. `lab/out/faults.json` has the
 * table, after each scenario; `--resume` leaves out each fault that has passed in it.
 */
import { faultCellRows } from '../../lab/faults/cells/index.ts';
import { faults } from '../../lab/faults/index.ts';
import { runFaultTable } from './run-table.ts';

/** The longest has thirty faults, each of which has a deadline of its own. */
await runFaultTable(Object.keys(faults), {
  file: 'faults.json',
  deadlineMinutes: 75,
  demanded: faultCellRows,
});
