import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeGoYaml } from '../../lib/base/go-yaml/write.ts';
import { writeCredentials } from './bootstrap-credentials.ts';

/** Namespaces of openshift-install's own manifests that rendered ones need. */
const namespaces = ['config', 'config-managed', 'machine-config-operator'];

/** An address of the lab's network, for renders that look for one. */
export const NODE_ADDRESS = '192.168.126.10';

const installConfig = {
  apiVersion: 'v1',
  baseDomain: 'lab.local',
  metadata: { name: 'sno' },
  networking: {
    networkType: 'OVNKubernetes',
    clusterNetwork: [{ cidr: '10.128.0.0/14', hostPrefix: 23 }],
    serviceNetwork: ['172.30.0.0/16'],
    machineNetwork: [{ cidr: '192.168.126.0/24' }],
  },
  controlPlane: { name: 'master', replicas: 1, architecture: 'amd64', platform: {} },
  compute: [{ name: 'worker', replicas: 0, architecture: 'amd64', platform: {} }],
  platform: { none: {} },
  bootstrapInPlace: { installationDisk: '/dev/vda' },
  pullSecret: '',
};

const network = {
  clusterNetwork: installConfig.networking.clusterNetwork,
  serviceNetwork: installConfig.networking.serviceNetwork,
  networkType: 'OVNKubernetes',
};

/** Of `config.openshift.io/v1`, by the file names that openshift-install gives them. */
const configuration = {
  '99_feature-gate.yaml': { kind: 'FeatureGate', spec: {} },
  'cluster-dns-02-config.yml': { kind: 'DNS', spec: { baseDomain: 'sno.lab.local' } },
  'cluster-infrastructure-02-config.yml': {
    kind: 'Infrastructure',
    spec: { cloudConfig: { name: '' }, platformSpec: { type: 'None' } },
    status: {
      apiServerInternalURI: 'https://api-int.sno.lab.local:6443',
      apiServerURL: 'https://api.sno.lab.local:6443',
      controlPlaneTopology: 'SingleReplica',
      infrastructureTopology: 'SingleReplica',
      cpuPartitioning: 'None',
      infrastructureName: 'sno-x7k2p',
      platform: 'None',
      platformStatus: { type: 'None' },
    },
  },
  'cluster-ingress-02-config.yml': { kind: 'Ingress', spec: { domain: 'apps.sno.lab.local' } },
  'cluster-network-02-config.yml': { kind: 'Network', spec: network, status: network },
  'cluster-proxy-01-config.yaml': { kind: 'Proxy', spec: { trustedCA: { name: '' } } },
  'cluster-scheduler-02-config.yml': { kind: 'Scheduler', spec: { mastersSchedulable: true } },
} as const;

/**
 * Writes what the renders read of the files that openshift-install makes: `manifests`, `tls` and
 * `auth` in the folder.
 */
export async function writeBootstrapAssets(folder: string): Promise<void> {
  for (const name of ['manifests', 'tls', 'auth']) await mkdir(join(folder, name));
  await writeCredentials(folder);
  const manifest = (name: string, object: unknown) =>
    writeFile(join(folder, 'manifests', name), writeGoYaml(object));
  for (const [name, object] of Object.entries(configuration)) {
    const typed = { apiVersion: 'config.openshift.io/v1', metadata: { name: 'cluster' } };
    await manifest(name, { ...typed, ...object });
  }
  for (const name of namespaces) {
    const metadata = { name: `openshift-${name}` };
    await manifest(`00_namespace-${name}.yaml`, { apiVersion: 'v1', kind: 'Namespace', metadata });
  }
  await manifest('cluster-config.yaml', {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'cluster-config-v1', namespace: 'kube-system' },
    data: { 'install-config': writeGoYaml(installConfig) },
  });
  await manifest('openshift-config-secret-pull-secret.yaml', {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'kubernetes.io/dockerconfigjson',
    metadata: { name: 'pull-secret', namespace: 'openshift-config' },
    data: { '.dockerconfigjson': Buffer.from('{"auths":{}}').toString('base64') },
  });
}
