import { z } from 'zod';
import { PREFLIGHT_CHECKS } from '../../lib/render/cluster.ts';
import { isDiskPath } from './disk.ts';
import { isLabel, isSubdomain, isUsableHostname } from './names.ts';
import { cidrProblem } from './networks.ts';
import { pullSecretProblem, sshKeyProblem } from './secrets.ts';

const cidr = z.string().refine((text) => cidrProblem(text) === undefined);

/**
 * A list of so many entries. Zod's own check of the length hides what is wrong with the
 * entries; this one is made whether or not something is.
 */
function list<Entry extends z.ZodType>(entry: Entry, atMost = Number.POSITIVE_INFINITY) {
  return z.array(entry).refine(({ length }) => length >= 1 && length <= atMost, {
    when: ({ value }) => Array.isArray(value),
  });
}

/** Fields of a machine pool that the installer has and whose default changes nothing here. */
const pool = {
  architecture: z.literal('amd64').optional(),
  hyperthreading: z.literal('Enabled').optional(),
  platform: z.strictObject({}).optional(),
};

/**
 * install-config.yaml as the OpenShift installer has it, as far as one node
 * without a platform needs it. Three fields are ours: `hostname`, `existingSystem` and
 * `preflightWarnings` of `bootstrapInPlace`. Optional fields may be `null`, which YAML makes of
 * a key without a value; it has been taken out before.
 */
export const installConfigSchema = z.strictObject({
  apiVersion: z.literal('v1'),
  baseDomain: z.string().refine(isSubdomain),
  metadata: z.strictObject({ name: z.string().refine(isLabel) }),
  compute: list(z.strictObject({ name: z.literal('worker'), replicas: z.literal(0), ...pool }), 1),
  controlPlane: z.strictObject({ name: z.literal('master'), replicas: z.literal(1), ...pool }),
  networking: z
    .strictObject({
      networkType: z.string().min(1).optional(),
      machineNetwork: list(z.strictObject({ cidr })).optional(),
      clusterNetwork: list(
        z.strictObject({ cidr, hostPrefix: z.number().int().min(1).max(30).optional() }),
      ).optional(),
      serviceNetwork: list(cidr, 1).optional(),
    })
    .optional(),
  platform: z.strictObject({ none: z.strictObject({}) }),
  bootstrapInPlace: z
    .strictObject({
      installationDisk: z.string().refine(isDiskPath).optional(),
      hostname: z.string().refine(isUsableHostname).optional(),
      existingSystem: z.enum(['refuse', 'overwrite']).optional(),
      preflightWarnings: list(z.enum(PREFLIGHT_CHECKS)).optional(),
    })
    .optional(),
  pullSecret: z.string().refine((text) => pullSecretProblem(text) === undefined),
  sshKey: z
    .string()
    .refine((text) => sshKeyProblem(text) === undefined)
    .optional(),
  fips: z.literal(false).optional(),
  publish: z.literal('External').optional(),
  cpuPartitioningMode: z.literal('None').optional(),
});

export type InstallConfig = z.infer<typeof installConfigSchema>;

/** The installer's defaults. */
export const NETWORK_DEFAULTS = {
  machineNetwork: ['10.0.0.0/16'],
  clusterNetwork: [{ cidr: '10.128.0.0/14', hostPrefix: 23 }],
  hostPrefix: 23,
  serviceNetwork: ['172.30.0.0/16'],
} as const;
