/**
 * `npm run test:machine [-- [--resume] NAME...]`: what only machines show, which firmware boots and whose power can be
 * cut. `lab/out/machine.json` has the table, after each scenario; `--resume` leaves out what has passed in it.
 * The node of the factory, for the scenario behind it, is kept in `lab/out/relocate-factory-vm` until all have passed.
 */
import { MACHINE_FILE } from '../../lab/faults/result.ts';
import { machineRows, onlyMachines } from '../../lab/machine/shown/index.ts';
import { FACTORY_SCENARIO, removeFactoryNode } from '../../lab/relocate/factory.ts';
import { runFaultTable } from '../faults/run-table.ts';

/** Scenarios of containers, too: on a machine, a power cut loses what was not flushed. */
const also = ['pxe', 'aio-sealed', 'power-cut', 'aio-power-cut'];

const passed = await runFaultTable([FACTORY_SCENARIO, ...Object.keys(onlyMachines), ...also], {
  file: MACHINE_FILE,
  // `machine-media`, the longest, takes about 89 without KVM.
  deadlineMinutes: 120,
  demanded: machineRows,
  machine: 'vm',
});
if (passed) await removeFactoryNode('machines');
