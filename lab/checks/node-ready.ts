import { Failure } from '../../lib/base/errors/failure.ts';
import { DOMAIN, host } from '../site.ts';
import type { RunningCheck } from './check.ts';
import { kubectl } from './kubectl.ts';

export const nodeReady: RunningCheck = {
  name: 'the node is Ready, under its name, and the only one',
  run: async (cluster, signal) => {
    const path =
      '{range .items[*]}{.metadata.name}={.status.conditions[?(@.type=="Ready")].status} {end}';
    const found = (
      await kubectl(cluster, ['get', 'nodes', '-o', `jsonpath=${path}`], signal)
    ).trim();
    const expected = `${host.name}.${DOMAIN}=True`;
    if (found !== expected) throw new Failure('fatal', 'wrong nodes', { expected, found });
  },
};
