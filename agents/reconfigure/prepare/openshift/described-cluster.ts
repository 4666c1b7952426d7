import { z } from 'zod';
import { Failure } from '../../../../lib/base/errors/failure.ts';
import { schemaFaults } from '../../../../lib/base/errors/schema-faults.ts';
import { readGoYaml } from '../../../../lib/base/go-yaml/read.ts';
import { minorOf } from '../../../../lib/base/minor.ts';
import type { Limits } from '../../../../lib/base/wait/limits.ts';
import type { KubeClient } from '../../../../lib/clients/kube/client.ts';
import { objectSchema, type Resource, resources } from '../../../../lib/clients/kube/resources.ts';
import { type Cluster, clusterSchema } from '../../../../lib/config/cluster/cluster.ts';
import { sha256OfFile } from '../../../../lib/host/files.ts';
import type { HostPaths } from '../../../../lib/host/paths.ts';
import { sshKeys } from '../../../../lib/pki/signature/ssh-keys.ts';

const config = 'config.openshift.io/v1';

const infrastructureSchema = objectSchema.extend({
  status: z.looseObject({
    infrastructureName: z.string(),
    controlPlaneTopology: z.string(),
    platformStatus: z.looseObject({ type: z.string() }),
  }),
});
const networkSchema = objectSchema.extend({
  status: z.looseObject({
    networkType: z.string(),
    clusterNetwork: z.array(z.looseObject({ cidr: z.string(), hostPrefix: z.number() })),
    serviceNetwork: z.array(z.string()),
  }),
});
const versionSchema = objectSchema.extend({
  spec: z.looseObject({ clusterID: z.string() }),
  status: z.looseObject({ desired: z.looseObject({ version: z.string(), image: z.string() }) }),
});
const installConfigSchema = z.looseObject({
  metadata: z.looseObject({ name: z.string() }),
  baseDomain: z.string(),
  networking: z.looseObject({ machineNetwork: z.array(z.looseObject({ cidr: z.string() })) }),
  sshKey: z.string().optional(),
});

const infrastructures: Resource<z.infer<typeof infrastructureSchema>> = {
  apiVersion: config,
  plural: 'infrastructures',
  schema: infrastructureSchema,
};
const networks: Resource<z.infer<typeof networkSchema>> = {
  apiVersion: config,
  plural: 'networks',
  schema: networkSchema,
};
const versions: Resource<z.infer<typeof versionSchema>> = {
  apiVersion: config,
  plural: 'clusterversions',
  schema: versionSchema,
};

/** A cluster that another installer made, and what keeps it from being one of a relocatable node. */
export interface DescribedCluster {
  readonly cluster: Cluster;
  readonly faults: readonly string[];
}

/**
 * Describes such a cluster from its API, as `sno create` describes its own: what the agents read of it at a site.
 * @throws Failure (usage) if the API has not what every installer writes
 */
export async function describedCluster(
  paths: HostPaths,
  client: KubeClient,
  limits: Limits,
): Promise<DescribedCluster> {
  const { status } = await client.get(infrastructures, { name: 'cluster' }, limits);
  const { status: network } = await client.get(networks, { name: 'cluster' }, limits);
  const { spec, status: version } = await client.get(versions, { name: 'version' }, limits);
  const install = await installConfig(client, limits);
  const platform = status.platformStatus.type.toLowerCase();
  const cluster = clusterSchema.safeParse({
    apiVersion: 'sno-agents/v1',
    // The same for each description: nobody else has made one.
    clusterId: spec.clusterID,
    controlPlane: 'openshift',
    openshift: {
      releaseImage: version.desired.image,
      version: minorOf(version.desired.version),
      clusterId: spec.clusterID,
      infrastructureName: status.infrastructureName,
      installedByOthers: true,
      platform,
    },
    name: install.metadata.name,
    baseDomain: install.baseDomain,
    machineNetwork: install.networking.machineNetwork.map(({ cidr }) => cidr),
    clusterNetwork: network.clusterNetwork.map(({ cidr, hostPrefix }) => ({ cidr, hostPrefix })),
    serviceNetwork: network.serviceNetwork,
    executableSha256: await sha256OfFile(paths.executable, limits.signal),
    sshKeys: sshKeys(install.sshKey ?? ''),
  });
  if (!cluster.success) throw unreadable(schemaFaults(cluster.error));
  const { controlPlaneTopology: topology } = status;
  return {
    cluster: cluster.data,
    faults: [
      ...(topology === 'SingleReplica' ? [] : [`controlPlaneTopology is ${topology}`]),
      ...(platform === 'none'
        ? []
        : [`the platform is ${platform}, which has addresses of its own`]),
      ...(network.networkType === 'OVNKubernetes' ? [] : [`the network is ${network.networkType}`]),
    ],
  };
}

async function installConfig(client: KubeClient, limits: Limits) {
  const place = { namespace: 'kube-system', name: 'cluster-config-v1' };
  const map = await client.find(resources.configMaps, place, limits);
  try {
    return installConfigSchema.parse(readGoYaml(map?.data?.['install-config'] ?? ''));
  } catch (error) {
    // Other messages quote the text, which may have credentials.
    throw unreadable(error instanceof z.ZodError ? schemaFaults(error) : 'no YAML');
  }
}

const unreadable = (found: string) =>
  new Failure('usage', 'this cluster cannot be described; nothing was changed', {
    expected:
      'what every installer writes: ConfigMap kube-system/cluster-config-v1, and config.openshift.io',
    found,
  });
