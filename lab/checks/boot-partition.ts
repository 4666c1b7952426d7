import { join } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { exists } from '../../lib/host/files.ts';
import type { DiskCheck } from './check.ts';

export const bootPartition: DiskCheck = {
  name: 'the boot partition has the Ignition config and the first-boot flag',
  run: async ({ boot }) => {
    for (const path of ['ignition/config.ign', 'ignition.firstboot']) {
      if (!(await exists(join(boot, path)))) throw new Failure('fatal', `/boot/${path} is missing`);
    }
  },
};
