import { powerCutInPlans, powerCutRows } from '../../faults/cells/index.ts';
import type { DemandedRows } from '../../faults/result.ts';
import type { Scenario } from '../../scenario.ts';
import { conditionRows, machineConditions } from './conditions.ts';
import { installedMachine, installedRows } from './installed.ts';
import { machineMedia, mediaRows } from './media.ts';
import { osUpdate, osUpdateRows } from './os-update.ts';
import { refusedDisk, refusedDiskRows } from './refused-disk.ts';
import { technician, technicianRows } from './technician.ts';
import { writtenDisk, writtenDiskRows } from './written-disk.ts';

/** What only machines show. */
export const onlyMachines: Readonly<Record<string, Scenario>> = {
  'machine-refused-disk': refusedDisk,
  'machine-written-disk': writtenDisk,
  'machine-installed': installedMachine,
  'machine-conditions': machineConditions,
  'machine-media': machineMedia,
  'machine-technician': technician,
  'machine-os-update': osUpdate,
  'machine-power-cut': powerCutInPlans,
};

/** What the table has of each once it has passed. */
export const machineRows: DemandedRows = {
  'machine-refused-disk': refusedDiskRows,
  'machine-written-disk': writtenDiskRows,
  'machine-installed': installedRows,
  'machine-conditions': conditionRows,
  'machine-media': mediaRows,
  'machine-technician': technicianRows,
  'machine-os-update': osUpdateRows,
  'machine-power-cut': powerCutRows,
};
