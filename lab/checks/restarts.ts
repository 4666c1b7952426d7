import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../lib/errors/failure.ts';
import { recordSchema } from '../../lib/installation/record.ts';
import type { RunningCheck } from './check.ts';

/** The live stage's pods keep running: none is started twice. */
export const restarts: RunningCheck = {
  name: 'the record counts the restarts of the control plane, and there was none',
  run: async ({ host }) => {
    const text = await readFile(join(host.rootDir, 'var/lib/sno-agents/record.json'), 'utf8');
    const { containerRestarts } = recordSchema.parse(JSON.parse(text));
    const found = containerRestarts
      .map(({ container, count }) => `${container} ${count}`)
      .toSorted();
    const expected = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'].map(
      (name) => `${name} 0`,
    );
    if (found.join() !== expected.join()) {
      throw new Failure('fatal', 'containers were restarted after the reboot', {
        expected: expected.join(', '),
        found: found.join(', '),
      });
    }
  },
};
