import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { createAuthority } from '../../lib/pki/authority.ts';
import { createSigningKey } from '../../lib/pki/keys.ts';

/** An address of the lab's network, for renders that look for one. */
export const NODE_ADDRESS = '192.168.126.10';

const signers = [
  ...['aggregator-signer', 'kube-control-plane-signer', 'kubelet-signer', 'root-ca'],
  ...['kube-apiserver-to-kubelet-signer', 'kube-apiserver-lb-signer'],
  ...['kube-apiserver-localhost-signer', 'kube-apiserver-service-network-signer'],
];
const bundles = [
  ...['admin-kubeconfig-ca-bundle', 'kube-apiserver-complete-client-ca-bundle'],
  ...['kubelet-bootstrap-kubeconfig-ca-bundle', 'kubelet-client-ca-bundle'],
];

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
  const tls = (name: string, text: string) => writeFile(join(folder, 'tls', name), text);
  for (const name of signers) {
    const { certificate, key } = await createAuthority(name);
    await tls(`${name}.crt`, certificate);
    await tls(`${name}.key`, key);
  }
  const { certificate } = await createAuthority('lab');
  for (const name of bundles) await tls(`${name}.crt`, certificate);
  const { privateKey, publicKey } = await createSigningKey();
  await tls('service-account.key', privateKey);
  await tls('service-account.pub', publicKey);
  await writeFile(join(folder, 'auth/kubeconfig'), stringify({ kind: 'Config' }));
  const manifest = (name: string, object: unknown) =>
    writeFile(join(folder, 'manifests', name), stringify(object));
  for (const [name, object] of Object.entries(configuration)) {
    const typed = { apiVersion: 'config.openshift.io/v1', metadata: { name: 'cluster' } };
    await manifest(name, { ...typed, ...object });
  }
  await manifest('cluster-config.yaml', {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'cluster-config-v1', namespace: 'kube-system' },
    data: { 'install-config': stringify(installConfig) },
  });
  await manifest('openshift-config-secret-pull-secret.yaml', {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'kubernetes.io/dockerconfigjson',
    metadata: { name: 'pull-secret', namespace: 'openshift-config' },
    data: { '.dockerconfigjson': Buffer.from('{"auths":{}}').toString('base64') },
  });
}
