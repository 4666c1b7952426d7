import { z } from 'zod';
import { Failure } from '../../lib/base/errors/failure.ts';
import { familyOf } from '../../lib/base/network/address.ts';
import type { RunningCheck } from './check.ts';
import { kubectl } from './kubectl.ts';

const nodesSchema = z.object({
  items: z.tuple([
    z.object({
      spec: z.object({ podCIDRs: z.array(z.string()) }),
      status: z.object({
        addresses: z.array(z.object({ type: z.string(), address: z.string() })),
      }),
    }),
  ]),
});

/** As the site assigns them: an address of each family and a range of each pod network, primary first. */
export const nodeAddresses: RunningCheck = {
  name: 'the node has its addresses and its pod networks in the order of the families',
  run: async (cluster, signal) => {
    const wanted = cluster.host.identity.addresses;
    const text = await kubectl(cluster, ['get', 'nodes', '-o', 'json'], signal);
    const [{ spec, status }] = nodesSchema.parse(JSON.parse(text)).items;
    const internal = status.addresses.filter(({ type }) => type === 'InternalIP');
    const found = [
      ...internal.map(({ address }) => address),
      ...spec.podCIDRs.map((cidr) => familyOf(cidr)),
    ];
    const expected = [...wanted, ...wanted.map(familyOf)];
    if (found.join() === expected.join()) return;
    throw new Failure('fatal', 'the node has unexpected addresses or pod networks', {
      expected: expected.join(', '),
      found: found.join(', '),
    });
  },
};
