import { z } from 'zod';
import { PREFLIGHT_CHECKS } from '../../lib/cluster/cluster.ts';
import { isRecord } from '../../lib/ignition/config.ts';
import { isPartitionIndex, isPartitionLabel, kernelArgumentProblem } from './boot-arguments.ts';
import { diskPathProblem } from './disk.ts';
import { repositoryProblem } from './mirrors.ts';
import { isLabel, isNtpSource, isSubdomain, isUsableHostname } from './names.ts';
import { cidrProblem } from './networks.ts';
import { noProxyProblem, proxyUrlProblem } from './proxy.ts';
import { pullSecretProblem, sshKeyProblem } from './secrets.ts';
import { trustBundleProblem } from './trust-bundle.ts';

/** A text in which nothing is found wrong. */
const sound = (problem: (text: string) => unknown) =>
  z.string().refine((text) => problem(text) === undefined);

const cidr = sound(cidrProblem);

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

/** The schemes that the installer takes for a proxy's own URL, by field. */
export const PROXY_SCHEMES = { httpProxy: ['http'], httpsProxy: ['http', 'https'] } as const;

const proxyUrl = (schemes: readonly string[]) =>
  sound((text) => proxyUrlProblem(text, schemes)).optional();

const proxy = z
  .strictObject({
    httpProxy: proxyUrl(PROXY_SCHEMES.httpProxy),
    httpsProxy: proxyUrl(PROXY_SCHEMES.httpsProxy),
    noProxy: sound(noProxyProblem).optional(),
  })
  .refine(({ httpProxy, httpsProxy }) => httpProxy !== undefined || httpsProxy !== undefined, {
    when: ({ value }) => isRecord(value) && !('httpProxy' in value || 'httpsProxy' in value),
  });

const repository = sound(repositoryProblem);
const mirror = { source: repository, mirrors: list(repository) };

/**
 * install-config.yaml as the OpenShift installer has it, as far as one node
 * without a platform needs it. Ours are the fields of `bootstrapInPlace` but for
 * `installationDisk`; `networkConfig` and `additionalNTPSources` are named as in the
 * installer's agent-config. Optional fields may be `null`, which YAML makes of
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
        z.strictObject({ cidr, hostPrefix: z.number().int().min(1).max(126).optional() }),
      ).optional(),
      serviceNetwork: list(cidr).optional(),
    })
    .optional(),
  platform: z.strictObject({ none: z.strictObject({}) }),
  bootstrapInPlace: z
    .strictObject({
      installationDisk: sound(diskPathProblem).optional(),
      hostname: z.string().refine(isUsableHostname).optional(),
      existingSystem: z.enum(['refuse', 'overwrite']).optional(),
      preflightWarnings: list(z.enum(PREFLIGHT_CHECKS)).optional(),
      networkConfig: z.record(z.string(), z.unknown()).optional(),
      additionalNTPSources: list(z.string().refine(isNtpSource)).optional(),
      kernelArguments: list(sound(kernelArgumentProblem)).optional(),
      savePartitions: z
        .strictObject({
          labels: list(z.string().refine(isPartitionLabel)).optional(),
          indexes: list(z.union([z.number(), z.string()]).refine(isPartitionIndex)).optional(),
        })
        .optional(),
    })
    .optional(),
  proxy: proxy.optional(),
  additionalTrustBundle: sound(trustBundleProblem).optional(),
  additionalTrustBundlePolicy: z.enum(['Proxyonly', 'Always']).optional(),
  imageContentSources: list(z.strictObject(mirror)).optional(),
  imageDigestSources: list(
    z.strictObject({
      ...mirror,
      sourcePolicy: z.enum(['AllowContactingSource', 'NeverContactSource']).optional(),
    }),
  ).optional(),
  pullSecret: sound(pullSecretProblem),
  sshKey: sound(sshKeyProblem).optional(),
  fips: z.literal(false).optional(),
  publish: z.literal('External').optional(),
  cpuPartitioningMode: z.literal('None').optional(),
});

export type InstallConfig = z.infer<typeof installConfigSchema>;
