import type { Copy, Stage } from '../stage.ts';
import {
  clusterConfig,
  featureGate,
  infrastructure,
  networkInput,
  renderedManifests,
} from './inputs.ts';

/** A component's manifests, its static pod, and its configuration in the folder that the pod mounts. */
const controlPlaneCopies = (folder: string, configs: Readonly<Record<string, string>>): Copy[] => [
  ...Object.entries(configs).map(([name, target]) => ({
    from: `${folder}/${name}`,
    to: `/etc/kubernetes/bootstrap-configs/${target}`,
  })),
  { from: `${folder}/bootstrap-manifests`, to: 'bootstrap-manifests' },
  { from: `${folder}/manifests`, to: 'manifests' },
];

/** etcd and what runs as static pods. */
export const controlPlaneStages: readonly Stage[] = [
  {
    name: 'etcd-bootstrap',
    image: 'cluster-etcd-operator',
    command: [
      '/usr/bin/cluster-etcd-operator',
      'render',
      '--asset-output-dir=/assets/etcd-bootstrap',
      `--cluster-configmap-file=/assets/${clusterConfig}`,
      '--etcd-image={image:etcd}',
      `--infra-config-file=/assets/${infrastructure}`,
      `--network-config-file=/assets/${networkInput}`,
    ],
    needs: [clusterConfig, infrastructure, networkInput],
    makes: ['tls/etcd-ca-bundle.crt', 'tls/etcd-client.crt', 'tls/etcd-client.key'],
    copies: [
      { from: 'etcd-bootstrap/etc-kubernetes', to: '/etc/kubernetes' },
      { from: 'etcd-bootstrap/manifests', to: 'manifests' },
      { from: 'etcd-bootstrap/tls', to: 'tls' },
    ],
  },
  {
    name: 'kube-apiserver-bootstrap',
    image: 'cluster-kube-apiserver-operator',
    command: [
      '/usr/bin/cluster-kube-apiserver-operator',
      'render',
      '--manifest-etcd-serving-ca=etcd-ca-bundle.crt',
      '--manifest-etcd-server-urls=https://localhost:2379',
      '--manifest-image={image:hyperkube}',
      '--manifest-operator-image={image:cluster-kube-apiserver-operator}',
      '--asset-input-dir=/assets/tls',
      '--asset-output-dir=/assets/kube-apiserver-bootstrap',
      '--config-output-file=/assets/kube-apiserver-bootstrap/config',
      `--cluster-config-file=/assets/${networkInput}`,
      // The installer need not write it; the operator ignores a missing one.
      '--cluster-auth-file=/assets/manifests/cluster-authentication-02-config.yaml',
      `--infra-config-file=/assets/${infrastructure}`,
      ...renderedManifests,
      { argument: '--operand-kubernetes-version={kubernetes}', since: '4.18' },
    ],
    needs: [
      featureGate,
      networkInput,
      infrastructure,
      'tls/etcd-ca-bundle.crt',
      'tls/etcd-client.crt',
      'tls/etcd-client.key',
    ],
    makes: [],
    copies: [
      ...controlPlaneCopies('kube-apiserver-bootstrap', { config: 'kube-apiserver-config.yaml' }),
      // Made beside its other keys if the installer has not.
      ...['key', 'pub'].map((end) => ({
        from: `tls/bound-service-account-signing-key.${end}`,
        to: `tls/bound-service-account-signing-key.${end}`,
        optional: true as const,
      })),
    ],
  },
  {
    name: 'kube-controller-manager-bootstrap',
    image: 'cluster-kube-controller-manager-operator',
    command: [
      '/usr/bin/cluster-kube-controller-manager-operator',
      'render',
      '--cluster-policy-controller-image={image:cluster-policy-controller}',
      '--manifest-image={image:hyperkube}',
      '--asset-input-dir=/assets/tls',
      '--asset-output-dir=/assets/kube-controller-manager-bootstrap',
      '--config-output-file=/assets/kube-controller-manager-bootstrap/config',
      '--cpc-config-output-file=/assets/kube-controller-manager-bootstrap/cpc-config',
      `--cluster-config-file=/assets/${networkInput}`,
      ...renderedManifests,
    ],
    needs: [
      featureGate,
      networkInput,
      'auth/kubeconfig',
      'tls/kubelet-signer.key',
      'tls/service-account.key',
    ],
    makes: [],
    copies: [
      ...controlPlaneCopies('kube-controller-manager-bootstrap', {
        config: 'kube-controller-manager-config.yaml',
        'cpc-config': 'cluster-policy-controller-config.yaml',
      }),
      { from: 'kube-controller-manager-bootstrap/tls', to: 'tls', optional: true },
    ],
  },
  {
    name: 'kube-scheduler-bootstrap',
    image: 'cluster-kube-scheduler-operator',
    command: [
      '/usr/bin/cluster-kube-scheduler-operator',
      'render',
      '--manifest-image={image:hyperkube}',
      '--asset-input-dir=/assets/tls',
      '--asset-output-dir=/assets/kube-scheduler-bootstrap',
      '--config-output-file=/assets/kube-scheduler-bootstrap/config',
    ],
    needs: [],
    makes: [],
    copies: controlPlaneCopies('kube-scheduler-bootstrap', {
      config: 'kube-scheduler-config.yaml',
    }),
  },
];
