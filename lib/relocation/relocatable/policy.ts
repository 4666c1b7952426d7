import { join } from 'node:path';
import { z } from 'zod';
import type { NodeIps } from '../../base/network/node-ips.ts';
import type { HostPaths } from '../../host/paths.ts';
import { stateFile } from '../../host/state-file.ts';

/** For how long a node may be under way, unless the factory says otherwise. */
export const SHIPPING_DAYS = 30;

/** `/etc/sno-agents/factory.json`: what the factory has fixed for this node, and whose site configuration it takes. */
export const factoryPolicySchema = z.strictObject({
  schemaVersion: z.literal(1),
  /** The address of the installation, which the node keeps on its internal bridge at every site; that of the primary family. */
  internalAddress: z.union([z.ipv4(), z.ipv6()]),
  /** In a cluster of both families: that of the other one. */
  secondInternalAddress: z.union([z.ipv4(), z.ipv6()]).optional(),
  /** The name of the Node, whatever the host is called. */
  nodeName: z.string().min(1),
  /** Public keys, as in authorized_keys, that may sign a site configuration. */
  allowedSigners: z.array(z.string()),
  /** Whether a site configuration that nobody has signed is taken, too. */
  unsignedAllowed: z.boolean(),
  /** Where the node asks for `<serial>.site`, if it does; `dhcp`: where the network of the site says. */
  siteUrl: z.union([z.literal('dhcp'), z.url({ protocol: /^https?$/ })]).optional(),
  /** How many days may pass until the site configuration arrives. */
  shippingDays: z.int().min(1).max(3650),
  /** On OpenShift: a release that this program does not know is treated as the newest that it knows. */
  unknownReleaseAccepted: z.literal(true).optional(),
  /** age1...: a site configuration for this recipient can be read by this node only. */
  recipient: z.string().regex(/^age1[0-9a-z]+$/),
});

export type FactoryPolicy = z.infer<typeof factoryPolicySchema>;

/** Both, the primary one first. */
export const internalAddresses = ({
  internalAddress,
  secondInternalAddress: second,
}: Pick<FactoryPolicy, 'internalAddress' | 'secondInternalAddress'>): NodeIps =>
  second === undefined ? [internalAddress] : [internalAddress, second];

export const factoryPolicyPath = ({ config }: Pick<HostPaths, 'config'>): string =>
  join(config, 'factory.json');

/** The identity of age that belongs to the policy's recipient (0600). */
export const ageIdentityPath = ({ config }: Pick<HostPaths, 'config'>): string =>
  join(config, 'reconfigure', 'age-identity.txt');

const file = (paths: Pick<HostPaths, 'config'>) =>
  stateFile(factoryPolicyPath(paths), factoryPolicySchema, {
    isIndented: true,
    damaged: {
      expected: 'what "reconfigure prepare" has written, with schemaVersion 1',
      fix: 'Run "reconfigure prepare" again, in the factory.',
    },
  });

/**
 * Undefined on a node that is not relocatable.
 * @throws Failure (fatal) if the file is damaged or from another version
 */
export const readFactoryPolicy = (
  paths: Pick<HostPaths, 'config'>,
): Promise<FactoryPolicy | undefined> => file(paths).read();

export const writeFactoryPolicy = (
  paths: Pick<HostPaths, 'config'>,
  policy: FactoryPolicy,
): Promise<void> => file(paths).write(policy);
