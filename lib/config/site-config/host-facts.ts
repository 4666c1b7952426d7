import { z } from 'zod';

/**
 * What a node tells about itself, so that a site configuration can be judged without it: `host-facts.json` of
 * the factory. None of it is secret.
 */
export const hostFactsSchema = z.object({
  apiVersion: z.literal('sno-agents/v1'),
  kind: z.literal('HostFacts'),
  controlPlane: z.enum(['kubernetes', 'openshift']),
  clusterName: z.string().describe('of the factory'),
  baseDomain: z.string().describe('of the factory'),
  nodeName: z.string().describe('under which the cluster knows the node'),
  internalAddresses: z
    .array(z.string())
    .min(1)
    .describe('that stay with the node: those of its installation'),
  clusterNetwork: z.array(z.string()).describe('CIDR, of the pods'),
  serviceNetwork: z.array(z.string()).describe('CIDR, of the Services'),
  adapters: z.array(z.string()).describe('names of the network adapters'),
  identifiers: z
    .array(z.string())
    .describe('the serial number of the machine, and its MAC addresses, in lower case'),
  recipient: z
    .string()
    .optional()
    .describe('of age: what is encrypted for it only this node reads'),
});

export type ShippedHostFacts = z.infer<typeof hostFactsSchema>;
