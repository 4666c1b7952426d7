import { stringify } from 'yaml';

const INSTALL_CONFIG = `apiVersion: v1
baseDomain: example.com
compute:
- name: worker
  replicas: 0
controlPlane:
  name: master
  replicas: 1
metadata: {name: sno}
platform: {none: {}}
`;

/** In the shape of openshift-install's: the manifests that say something about the topology. */
const MANIFESTS: Readonly<Record<string, string>> = {
  'manifests/cluster-config.yaml': stringify({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'cluster-config-v1', namespace: 'kube-system' },
    data: { 'install-config': INSTALL_CONFIG },
  }),
  'manifests/cluster-infrastructure-02-config.yml': stringify({
    apiVersion: 'config.openshift.io/v1',
    kind: 'Infrastructure',
    metadata: { creationTimestamp: null, name: 'cluster' },
    spec: { platformSpec: { type: 'None' } },
    status: { controlPlaneTopology: 'SingleReplica', infrastructureTopology: 'SingleReplica' },
  }),
  'manifests/cluster-ingress-02-config.yml': stringify({
    apiVersion: 'config.openshift.io/v1',
    kind: 'Ingress',
    metadata: { name: 'cluster' },
    spec: { domain: 'apps.sno.example.com' },
    status: { defaultPlacement: 'ControlPlane' },
  }),
  'manifests/cluster-scheduler-02-config.yml': stringify({
    apiVersion: 'config.openshift.io/v1',
    kind: 'Scheduler',
    metadata: { name: 'cluster' },
    spec: { mastersSchedulable: true, policy: { name: '' } },
    status: {},
  }),
  'manifests/cvo-overrides.yaml': stringify({
    apiVersion: 'config.openshift.io/v1',
    kind: 'ClusterVersion',
    metadata: { name: 'version', namespace: 'openshift-cluster-version' },
    spec: { channel: 'stable-4.18', clusterID: '00000000-0000-4000-8000-000000000000' },
  }),
};

/** A bootstrap Ignition config with these manifests, others added or replaced by name. */
export function installerIgnition(others: Readonly<Record<string, string>> = {}): string {
  const files = Object.entries({ ...MANIFESTS, ...others }).map(([name, text]) => ({
    path: `/opt/openshift/${name}`,
    mode: 0o644,
    contents: {
      source: `data:text/plain;charset=utf-8;base64,${Buffer.from(text).toString('base64')}`,
    },
  }));
  const script = { path: '/usr/local/bin/bootkube.sh', contents: { source: 'data:,%23%21bash' } };
  return JSON.stringify({
    ignition: { version: '3.2.0' },
    storage: { files: [script, ...files] },
  });
}
