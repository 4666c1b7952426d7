import { z } from 'zod';
import { Failure } from '../../lib/base/errors/failure.ts';
import type { RunningCheck } from './check.ts';
import { kubectl } from './kubectl.ts';

const nodesSchema = z.object({
  items: z.tuple([
    z.object({
      metadata: z.object({ labels: z.record(z.string(), z.string()) }),
      spec: z.object({ taints: z.array(z.unknown()).optional() }),
    }),
  ]),
});

const ROLE = 'node-role.kubernetes.io/control-plane';

/** A node that nothing else labels: NodeRestriction forbids it to the kubelet. */
export const nodeRole: RunningCheck = {
  name: 'the node has its role, and workloads may run on it',
  run: async (cluster, signal) => {
    const text = await kubectl(cluster, ['get', 'nodes', '-o', 'json'], signal);
    const [{ metadata, spec }] = nodesSchema.parse(JSON.parse(text)).items;
    if (metadata.labels[ROLE] === undefined) {
      throw new Failure('fatal', 'the node has no role', {
        expected: ROLE,
        found: Object.keys(metadata.labels).join(', '),
      });
    }
    if (spec.taints !== undefined && spec.taints.length > 0) {
      throw new Failure('fatal', 'the node is tainted', { found: JSON.stringify(spec.taints) });
    }
  },
};
