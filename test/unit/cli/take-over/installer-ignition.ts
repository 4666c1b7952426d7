import type { File, IgnitionConfig, IgnitionUnit } from '../../../../lib/render/ignition/config.ts';
import { type Issued, issue } from './test-authority.ts';

const encoded = (text: string) => ({
  source: `data:text/plain;charset=utf-8;base64,${Buffer.from(text).toString('base64')}`,
});

/** As openshift-install writes it. */
export const file = (path: string, text: string, mode = 0o600): File => ({
  path,
  mode,
  overwrite: true,
  user: { name: 'root' },
  contents: encoded(text),
});

export const RELEASE = 'registry.example/ocp/release@sha256:0123';
export const CLUSTER_ID = '9b916f64-a421-4a54-8d8c-45b4d4658de7';
export const PULL_SECRET = '{"auths":{"registry.example":{"auth":"dXNlcjpwYXNz"}}}';

export const INSTALL_CONFIG = {
  apiVersion: 'v1',
  additionalTrustBundlePolicy: 'Proxyonly',
  baseDomain: 'example.net',
  bootstrapInPlace: { installationDisk: '/dev/disk/by-id/wwn-0x1' },
  compute: [{ architecture: 'amd64', name: 'worker', platform: {}, replicas: 0 }],
  controlPlane: { architecture: 'amd64', name: 'master', platform: {}, replicas: 1 },
  // The agents act on none of these; the manifests have them.
  capabilities: { baselineCapabilitySet: 'None' },
  cpuPartitioningMode: 'AllNodes',
  featureSet: 'TechPreviewNoUpgrade',
  fips: true,
  metadata: { creationTimestamp: null, name: 'sno' },
  networking: {
    clusterNetwork: [{ cidr: '10.128.0.0/14', hostPrefix: 23 }],
    machineNetwork: [{ cidr: '192.168.126.0/24' }],
    networkType: 'OVNKubernetes',
    serviceNetwork: ['172.30.0.0/16'],
  },
  platform: { none: {} },
  publish: 'External',
  pullSecret: '',
  sshKey: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f me',
};

/** JSON is YAML. */
export const clusterConfig = (installConfig: object) =>
  JSON.stringify({ kind: 'ConfigMap', data: { 'install-config': JSON.stringify(installConfig) } });

export const clusterVersion = (channel: string) =>
  JSON.stringify({ kind: 'ClusterVersion', spec: { channel, clusterID: CLUSTER_ID } });

export const MACHINE_CONFIG =
  '{"kind":"MachineConfig","spec":{"kernelType":"realtime","kernelArguments":["nosmt"]}}';

/** Names in the bootstrap folder of each installer version: code, units and configuration. */
const SCRIPTS = `approve-csr bootkube bootstrap-cluster-gather bootstrap-in-place
  bootstrap-service-record bootstrap-verify-api-server-urls crio-configure install-to-disk
  installer-gather installer-masters-gather kubelet kubelet-pause-image release-image
  report-progress wait-for-ha-api`.split(/\s+/);
const NODE_IMAGE = 'finish.service overlay.service overlay.target pull.service'.split(' ');
const ENABLED = ['progress', 'kubelet', 'approve-csr', 'install-to-disk', 'chown-gatewayd-key'];
const STARTED = ['bootkube', 'crio-configure', 'release-image'];

/** What `openshift-install create single-node-ignition-config` writes, reduced to its shape. */
export async function installerIgnition(
  version: '4.14' | '4.19' | '4.21',
): Promise<IgnitionConfig> {
  return {
    ignition: { version: '3.2.0' },
    passwd: {
      users: [{ name: 'core', sshAuthorizedKeys: [INSTALL_CONFIG.sshKey, 'ssh-rsa AAAA'] }],
    },
    storage: {
      files: [
        ...SCRIPTS.map((name) =>
          file(`/usr/local/bin/${name}.sh`, `#!/bin/bash\n# ${name}\n`, 0o555),
        ),
        file(
          '/usr/local/bin/release-image-download.sh',
          `#!/bin/bash\nRELEASE_IMAGE=${RELEASE}\n`,
          0o555,
        ),
        ...(version === '4.14'
          ? [file('/usr/local/bin/bootstrap-pivot.sh', '', 0o555)]
          : nodeImage()),
        ...configuration(version),
        ...(await assets(version)),
      ],
    },
    systemd: { units: [...units(), ...unitsOf(version)] },
  };
}

function nodeImage(): File[] {
  return [
    ...['overlay', 'pull'].map((name) => file(`/usr/local/bin/node-image-${name}.sh`, 'x', 0o555)),
    ...NODE_IMAGE.map((name) => file(`/etc/systemd/system/node-image-${name}`, '[Unit]\n')),
    file('/etc/systemd/system-generators/node-image-overlay-generator', 'x', 0o555),
  ];
}

function configuration(version: string): File[] {
  return [
    { path: '/etc/motd', mode: 0o644, append: [encoded('This is the bootstrap node\n')] },
    file('/etc/containers/registries.conf', '', 0o644),
    file('/etc/ignition-machine-config-encapsulated.json', '{"spec":{"fips":true}}'),
    file('/etc/pki/ca-trust/source/anchors/ca.crt', ''),
    file('/etc/profile.d/proxy.sh', ''),
    file('/etc/systemd/system.conf.d/10-default-env.conf', '[Manager]\n'),
    file('/root/.docker/config.json', PULL_SECRET),
    ...(version === '4.21'
      ? [file('/etc/systemd/system/var-ostreecontainer.mount', '[Mount]\n')]
      : []),
  ];
}

async function assets(version: string): Promise<File[]> {
  const at = (path: string, text: string, mode?: number) =>
    file(`/opt/openshift/${path}`, text, mode);
  const now = Date.now();
  const day = { notBefore: new Date(now), notAfter: new Date(now + 86_400_000) };
  const signer = await issue('kubelet-signer', day, { algorithm: 'rsa' });
  const root = await issue('root-ca', { ...day, notAfter: new Date(now + 3650 * 86_400_000) });
  const manifest = (path: string, text: string) => at(path, text, 0o644);
  return [
    manifest('manifests/cluster-config.yaml', clusterConfig(INSTALL_CONFIG)),
    manifest(
      'manifests/cluster-infrastructure-02-config.yml',
      '{"kind":"Infrastructure","status":{"infrastructureName":"sno-qkgrs"}}',
    ),
    manifest('manifests/cvo-overrides.yaml', clusterVersion(`stable-${version}`)),
    manifest('manifests/machine-config-server-tls-secret.yaml', `data: ${base64(root.key)}\n`),
    manifest('openshift/99_openshift-machineconfig_99-master-realtime.yaml', MACHINE_CONFIG),
    manifest(
      'openshift/openshift-install-manifests.yaml',
      '{"kind":"ConfigMap","data":{"version":"was not built correctly"}}',
    ),
    manifest('original_cvo_overrides.patch', '{"spec":{"overrides":null}}'),
    at('auth/kubeconfig-loopback', 'kind: Config\n'),
    at('bootstrap-in-place/bootstrap-in-place-post-reboot.sh', '#!/bin/bash\n'),
    at('bootstrap-in-place/master-update.fcc', 'variant: fcos\n'),
    ...pair('kubelet-signer', signer).map(([name, text]) => at(`tls/${name}`, text)),
    at('tls/kubelet-client-ca-bundle.crt', signer.certificate),
    at('tls/root-ca.crt', root.certificate, 0o644),
  ];
}

const pair = (name: string, { certificate, key }: Issued) =>
  [
    [`${name}.crt`, certificate],
    [`${name}.key`, key],
  ] as const;

const base64 = (text: string) => Buffer.from(text).toString('base64');

function units(): IgnitionUnit[] {
  const contents = '[Service]\nExecStart=/usr/local/bin/x.sh\n';
  const conf = (unit: string, name: string): IgnitionUnit => ({
    name: unit,
    dropins: [{ name, contents: '' }],
  });
  return [
    ...ENABLED.map((name) => ({ name: `${name}.service`, enabled: true, contents })),
    ...STARTED.map((name) => ({ name: `${name}.service`, contents })),
    { name: 'systemd-journal-gatewayd.socket', enabled: true, contents: '' },
    conf('systemd-journal-gatewayd.service', 'certs.conf'),
    conf('zincati.service', 'okd-machine-os-disabled.conf'),
  ];
}

function unitsOf(version: string): IgnitionUnit[] {
  if (version === '4.14') return [{ name: 'release-image-pivot.service', contents: '' }];
  if (version === '4.19') return [];
  return [
    { name: 'restart-sshd.service', enabled: true, contents: '[Service]\n' },
    {
      name: 'var-ostreecontainer.mount',
      dropins: [{ name: '10-architecture.conf', contents: '' }],
    },
  ];
}
