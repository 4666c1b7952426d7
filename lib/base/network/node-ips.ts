import { z } from 'zod';
import { familyOf } from './address.ts';

/**
 * The addresses that a node registers: the primary family's, and in a dual-stack
 * cluster the other family's after it.
 */
export const nodeIpsSchema = z
  .union([z.tuple([z.string()]), z.tuple([z.string(), z.string()])])
  .refine(([first, second]) => second === undefined || familyOf(first) !== familyOf(second), {
    message: 'expected one address of each family',
  });

export type NodeIps = z.infer<typeof nodeIpsSchema>;

/**
 * A node address that the host does not have, with the addresses it has in that family; first
 * a family with other addresses, since waiting does not help there.
 */
export function lostAddress(nodeIps: NodeIps, addresses: readonly string[]) {
  const lost = nodeIps
    .filter((expected) => !addresses.includes(expected))
    .map((expected) => {
      const family = familyOf(expected);
      const found = addresses.filter((address) => familyOf(address) === family);
      return { family, expected, found };
    });
  return lost.find(({ found }) => found.length > 0) ?? lost[0];
}
