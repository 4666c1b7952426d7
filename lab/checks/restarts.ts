import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { recordSchema } from '../../lib/cluster/installation/record.ts';
import { isPatient } from '../patience.ts';
import type { RunningCheck } from './check.ts';

const CONTAINERS = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'];

/**
 * On machines without KVM the controller-manager ends by itself after the reboot: once it has its Lease, and before its
 * first controller. Most likely it gave up its wait of ten seconds for /healthz (WaitForAPIServer of k8s.io/controller-manager).
 */
const mayRestartOnce = (container: string) =>
  isPatient() && container === 'kube-controller-manager';

/** The live stage's pods keep running: none is started twice. */
export const restarts: RunningCheck = {
  name: 'the record counts the restarts of the control plane, and there was none',
  run: async ({ host }) => {
    const text = await readFile(join(host.rootDir, 'var/lib/sno-agents/record.json'), 'utf8');
    const { containerRestarts } = recordSchema.parse(JSON.parse(text));
    const names = containerRestarts.map(({ container }) => container).toSorted();
    const isRight =
      names.join() === CONTAINERS.join() &&
      containerRestarts.every(
        ({ container, count }) => count === 0 || (count === 1 && mayRestartOnce(container)),
      );
    if (!isRight) {
      throw new Failure('fatal', 'containers were restarted after the reboot', {
        expected: `no restart of ${CONTAINERS.join(', ')}`,
        found: containerRestarts.map(({ container, count }) => `${container} ${count}`).join(', '),
      });
    }
  },
};
