import { Failure } from '../../lib/base/errors/failure.ts';
import type { ClusterCheck } from './check.ts';
import { expectNoFailedUnit } from './failed-units.ts';

/** Units that only exist for the installation. */
const temporary = ['bootkube', 'sno-restore', 'install-to-disk', 'approve-csr', 'progress'].map(
  (name) => `${name}.service`,
);

export const unitsGone: ClusterCheck = {
  name: 'the units of the installation are gone and no unit has failed',
  run: async ({ host }, signal) => {
    const within = { timeoutMs: 20_000 };
    const list = ['systemctl', 'list-unit-files', '--no-legend', '--plain', ...temporary];
    const left = (await host.exec(list, within, signal)).stdout.trim();
    if (left !== '') throw new Failure('fatal', 'units are left', { found: left });
    await expectNoFailedUnit(host, signal);
  },
};
