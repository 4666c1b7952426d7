import type { Scenario } from '../../scenario.ts';
import { machineConditions } from './conditions.ts';
import { installedMachine } from './installed.ts';
import { machineMedia } from './media.ts';
import { refusedDisk } from './refused-disk.ts';
import { writtenDisk } from './written-disk.ts';

/** What only machines show. */
export const onlyMachines: Readonly<Record<string, Scenario>> = {
  'machine-refused-disk': refusedDisk,
  'machine-written-disk': writtenDisk,
  'machine-installed': installedMachine,
  'machine-conditions': machineConditions,
  'machine-media': machineMedia,
};
