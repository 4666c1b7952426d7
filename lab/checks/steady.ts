import { Failure } from '../../lib/base/errors/failure.ts';
import { parseJson } from '../../lib/base/json.ts';
import { verdictSchema } from '../../lib/cluster/steady/verdict.ts';
import { patient } from '../patience.ts';
import type { RunningCheck } from './check.ts';
import { kubectl } from './kubectl.ts';

const WAIT_MS = 150_000;
const COMMAND_S = 120;
const command = () => [
  ...['wait-steady', '--for', '5s', '--timeout', `${patient(COMMAND_S)}s`, '--json'],
];

export const steady: RunningCheck = {
  name: 'wait-steady finds the host steady and says so in the cluster',
  run: async (cluster, signal) => {
    const program = ['/usr/local/bin/wait-steady', ...command().slice(1)];
    const { exitCode, stdout, stderr } = await cluster.host.exec(
      program,
      { timeoutMs: WAIT_MS },
      signal,
    );
    if (exitCode !== 0) {
      throw new Failure('fatal', `${command().join(' ')} ended with exit code ${exitCode}`, {
        found: stdout.trim() || stderr.trim(),
      });
    }
    const { since } = verdictSchema.parse(parseJson(stdout));
    const published = await kubectl(
      cluster,
      ['get', 'configmap', '-n', 'kube-system', 'sno-steady', '-o', 'jsonpath={.data.summary}'],
      signal,
    );
    const expected = `Steady: nothing has changed since ${since}`;
    if (published === expected) return;
    throw new Failure('fatal', 'ConfigMap kube-system/sno-steady has another verdict', {
      expected,
      found: published,
    });
  },
};
