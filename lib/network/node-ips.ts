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
