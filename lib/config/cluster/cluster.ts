import { z } from 'zod';
import { Failure } from '../../base/errors/failure.ts';
import { SEAL_MODES } from '../../secrets/seal/mode.ts';

/** What an installed host does when the address of its Node has moved: nothing, or it changes its identity. */
export const ON_ADDRESS_CHANGE = ['stop', 'follow'] as const;
export type OnAddressChange = (typeof ON_ADDRESS_CHANGE)[number];

/** Whether pods reach the metadata service of a cloud, which has what the host was created with: keys among it. */
export const METADATA_FROM_PODS = ['block', 'allow'] as const;

/** The checks of the host before anything is changed (agents/steps/preflight). */
export const PREFLIGHT_CHECKS = [
  'network',
  'hostname',
  'address',
  'dns-api',
  'dns-api-int',
  'dns-apps',
  'dns-hostname',
  'clock',
  'memory',
  'cpus',
  'network-plugins',
  'platform',
  'disk',
  'disk-labels',
] as const;

export type PreflightCheck = (typeof PREFLIGHT_CHECKS)[number];

const installationSchema = z.strictObject({
  /** A device path, preferably in /dev/disk/by-id. */
  disk: z.string(),
  /** Additional arguments of coreos-installer, without the disk. */
  coreosInstallerArgs: z.array(z.string()),
  /** What to do if the disk contains another system. */
  existingSystem: z.enum(['refuse', 'overwrite']),
  /** Added to the installed system's kernel command line. */
  kernelArguments: z.array(z.string()).default([]),
  /** Partitions to keep, by label pattern and by number or range (coreos-installer's notation). */
  savePartitions: z
    .strictObject({ labels: z.array(z.string()), indexes: z.array(z.string()) })
    .default({ labels: [], indexes: [] }),
});

/** How a host reaches the outside. */
export const proxySchema = z.strictObject({
  httpProxy: z.url().optional(),
  httpsProxy: z.url().optional(),
  noProxy: z.array(z.string()),
});

/** OpenShift only: which release its control plane is rendered from. */
const openShiftSchema = z.strictObject({
  /** Pull specification, as openshift-install wrote it: with a digest, or a tag in development. */
  releaseImage: z.string().min(1),
  /** Minor version, such as 4.19, of the openshift-install that made the assets. */
  version: z.string().regex(/^\d+\.\d+$/),
  /** A release that this program does not know is treated as the newest that it knows. */
  unknownReleaseAccepted: z.literal(true).optional(),
  /** `spec.clusterID` of the ClusterVersion, by which telemetry and support know the cluster. */
  clusterId: z.uuid(),
  /** `status.infrastructureName` of the Infrastructure. */
  infrastructureName: z.string().min(1),
  /** Another installer made the cluster; `reconfigure prepare` has described it. */
  installedByOthers: z.literal(true).optional(),
  /** Name of the platform in the install-config, such as none. */
  platform: z.string().min(1),
});

/**
 * What `sno create` decided about the cluster, for the agents on the host:
 * `/etc/sno-agents/cluster.json` in the live Ignition.
 */
const clusterFields = z.strictObject({
  apiVersion: z.literal('sno-agents/v1'),
  /** New with each `sno create`; distinguishes an installation of this cluster from any other. */
  clusterId: z.uuid(),
  controlPlane: z.enum(['kubernetes', 'openshift']),
  /** If and only if the control plane is `openshift`. */
  openshift: openShiftSchema.optional(),
  /** `metadata.name` of the install-config. */
  name: z.string(),
  baseDomain: z.string(),
  /** The node's name; if absent, the final host name of the live host. */
  hostname: z.string().optional(),
  /** CIDR. The first entry's family is the primary one; a second family makes it dual-stack. */
  machineNetwork: z.array(z.string()).min(1),
  clusterNetwork: z
    .array(z.strictObject({ cidr: z.string(), hostPrefix: z.number().int() }))
    .min(1),
  serviceNetwork: z.array(z.string()).min(1),
  /** How the disk is written; absent if the host has none to write. */
  installation: installationSchema.optional(),
  /** The host bootstraps on the disk that it boots from, and stays on it. */
  inPlace: z.literal(true).optional(),
  /** sha256 (hex) of the `sno-agents` executable that the live medium must carry. */
  executableSha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** Who may log in as `core`. */
  sshKeys: z.array(z.string()).default([]),
  /** sha256 (hex) of the medium's payload.yaml; if absent, any payload on the medium is trusted. */
  payloadSha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional(),
  /** Where the master Ignition is fetched; if absent, it is rendered on the host. */
  machineConfigServerUrl: z.url().optional(),
  /** How the host reaches the outside; `noProxy` is complete, including the cluster's own names. */
  proxy: proxySchema.optional(),
  /** PEM certificates that the host trusts in addition to those of its operating system. */
  additionalTrustBundle: z.string().optional(),
  /**
   * Mirrors of `source` (a registry, with or without a repository path): at most one entry for digests and one for tags.
   * That for tags is used for digests too where the source has none for these.
   */
  imageMirrors: z
    .array(
      z.strictObject({
        source: z.string(),
        mirrors: z.array(z.string()).min(1),
        /** Pulls by tag still go to the source, whose tags may have moved. */
        digestOnly: z.boolean(),
        /** The source is not contacted if all mirrors have failed. */
        neverContactSource: z.boolean().default(false),
      }),
    )
    .default([]),
  /** The host's network: an nmstate document (YAML), applied before anything is fetched. */
  networkConfig: z.string().optional(),
  /** Host names or addresses; if absent, the operating system's own. */
  additionalNtpSources: z.array(z.string()).default([]),
  /** URL of the folder with payload.yaml; if absent, the payload is on the live medium. */
  payloadUrl: z.url().optional(),
  /** Workers of the installation, which the topology depends on; absent: none. */
  dayOneWorkers: z.number().int().positive().optional(),
  /** CPUs (a list such as 0-1,4) for the node's own processes; workloads can have the others alone. */
  reservedCpus: z.string().optional(),
  /** What the keys of the control plane are sealed to; absent: they lie on the disk as files. */
  sealSecrets: z.enum(SEAL_MODES).optional(),
  /** Absent: `stop`. */
  onAddressChange: z.enum(ON_ADDRESS_CHANGE).optional(),
  /** Absent, on a host of an earlier release: `allow`, as it was. */
  metadataFromPods: z.enum(METADATA_FROM_PODS).optional(),
  /** The node moves to another site: it keeps the address of the installation as an internal one. */
  relocatable: z.literal(true).optional(),
  /** For which name the API server shows the certificate that the site gave; absent: it gave none. */
  apiCertificateName: z.string().optional(),
  /** Further names and addresses by which clients reach the API server, such as a public address that no interface has. */
  apiNames: z.array(z.string()).optional(),
  /** Names of preflight checks whose failure is only a warning. */
  preflightWarnings: z.array(z.enum(PREFLIGHT_CHECKS)).default([]),
});

export const clusterSchema = clusterFields
  .refine(
    ({ controlPlane, openshift }) => (controlPlane === 'openshift') === (openshift !== undefined),
    { path: ['openshift'], error: 'must exist if and only if controlPlane is openshift' },
  )
  .refine(
    ({ controlPlane, sealSecrets }) => controlPlane !== 'openshift' || sealSecrets === undefined,
    {
      path: ['sealSecrets'],
      error: 'must not exist on OpenShift, whose operators write their keys to the disk themselves',
    },
  );

export type Cluster = z.infer<typeof clusterSchema>;
export type OpenShiftRelease = z.infer<typeof openShiftSchema>;
export type Installation = z.infer<typeof installationSchema>;

/** A cluster whose host has a disk to write. */
export type InstallableCluster = Cluster & { readonly installation: Installation };

export type ImageMirror = Cluster['imageMirrors'][number];

/** `<name>.<baseDomain>`: the domain of api, api-int and *.apps. */
export function clusterDomain(cluster: Pick<Cluster, 'name' | 'baseDomain'>): string {
  return `${cluster.name}.${cluster.baseDomain}`;
}

/** The release of an OpenShift cluster. @throws Failure (usage) for another kind of control plane */
export function openShiftRelease(
  cluster: Pick<Cluster, 'controlPlane' | 'openshift'>,
): OpenShiftRelease {
  if (cluster.openshift !== undefined) return cluster.openshift;
  throw new Failure('usage', 'cluster.json names no OpenShift release', {
    expected: 'controlPlane openshift, with the field openshift',
    found: `controlPlane ${cluster.controlPlane}`,
  });
}
