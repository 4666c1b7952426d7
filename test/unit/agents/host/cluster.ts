import { clusterSchema, type InstallableCluster } from '../../../../lib/config/cluster/cluster.ts';

const parsed = clusterSchema.parse({
  apiVersion: 'sno-agents/v1',
  clusterId: '6f0c8f0e-3b1b-4b44-9f0d-0123456789ab',
  controlPlane: 'kubernetes',
  name: 'edge',
  baseDomain: 'example.test',
  machineNetwork: ['192.0.2.0/24'],
  clusterNetwork: [{ cidr: '10.128.0.0/14', hostPrefix: 23 }],
  serviceNetwork: ['172.30.0.0/16'],
  executableSha256: 'a'.repeat(64),
});

/** The cluster that steps work on and render, unless a test overrides it. */
export const cluster: InstallableCluster = {
  ...parsed,
  installation: {
    disk: '/dev/vda',
    coreosInstallerArgs: [],
    existingSystem: 'refuse',
    kernelArguments: [],
    savePartitions: { labels: [], indexes: [] },
  },
};
