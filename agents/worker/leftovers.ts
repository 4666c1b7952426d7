import { workerPaths } from '../../lib/cluster/workers/paths.ts';
import { FIRST_BOOT_FILES, FIRST_BOOT_UNITS, firstBootLeftovers } from '../steps/leftovers.ts';

export const workerLeftovers = firstBootLeftovers(async () => [
  [workerPaths.bootstrapKubeconfig, 'it has the bootstrap token of all workers'],
  ...FIRST_BOOT_FILES,
  ...FIRST_BOOT_UNITS,
]);
