import { z } from 'zod';
import { Failure } from '../../lib/base/errors/failure.ts';
import { familyOf } from '../../lib/base/network/address.ts';
import { applyObject } from './apply-object.ts';
import type { RunningCheck } from './check.ts';
import { kubectl } from './kubectl.ts';

const name = 'families';
const serviceSchema = z.object({
  spec: z.object({ clusterIPs: z.array(z.string()), ipFamilies: z.array(z.string()) }),
});

export const serviceFamilies: RunningCheck = {
  name: 'a Service gets an address in each family, the primary one first',
  run: async (cluster, signal) => {
    const families = cluster.host.identity.addresses.map(familyOf);
    const service = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, namespace: 'default' },
      spec: {
        // Rejected by a cluster without both families.
        ipFamilyPolicy: families.length > 1 ? 'RequireDualStack' : 'SingleStack',
        selector: { app: 'hello' },
        ports: [{ port: 80, targetPort: 8080 }],
      },
    };
    await applyObject(cluster, service, signal);
    const text = await kubectl(cluster, ['get', 'service', name, '-o', 'json'], signal);
    const { clusterIPs, ipFamilies } = serviceSchema.parse(JSON.parse(text)).spec;
    const found = [...ipFamilies, ...clusterIPs.map(familyOf)];
    const expected = [...families, ...families];
    if (found.join() === expected.join()) return;
    throw new Failure('fatal', 'the Service has addresses of unexpected families', {
      expected: expected.join(', '),
      found: `${found.join(', ')} (${clusterIPs.join(', ')})`,
    });
  },
};
