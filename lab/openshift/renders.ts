import { RELEASE_IMAGE } from '../components/openshift/images.ts';
import { OPENSHIFT_KUBERNETES_VERSION } from '../components/openshift/kubernetes.ts';
import { imageReference, OPENSHIFT_VERSION } from '../components/openshift/release.ts';

/** A render: its image, its command, and files that it must leave in the assets. */
export interface Render {
  readonly image: string;
  readonly command: readonly string[];
  /** Folder of its output, by which it is called too. */
  readonly output: string;
  /** Below the folder. */
  readonly files: readonly string[];
  /** A flag without which it must fail. */
  readonly required?: string;
  /** A file of the assets without which it must fail. */
  readonly reads?: string;
}

const assets = (path: string) => `/assets/${path}`;
const manifest = (name: string) => assets(`manifests/${name}`);
const infrastructure = manifest('cluster-infrastructure-02-config.yml');
const network = manifest('cluster-network-02-config.yml');
const payloadVersion = `--payload-version=${OPENSHIFT_VERSION}`;
const rendered = [`--rendered-manifest-files=${assets('manifests')}`, payloadVersion];

/** The flags that renders of static pods share. */
const staticPod = (output: string) => [
  `--manifest-image=${imageReference('hyperkube')}`,
  `--asset-input-dir=${assets('tls')}`,
  `--asset-output-dir=${assets(output)}`,
  `--config-output-file=${assets(`${output}/config`)}`,
];

const profile = [
  `--rendered-manifest-dir=${assets('manifests')}`,
  '--cluster-profile=self-managed-high-availability',
  payloadVersion,
];

/** In an order in which each finds what it reads, with the arguments of the bootstrap host. */
export const renders: readonly Render[] = [
  {
    image: 'cluster-config-api',
    output: 'api-bootstrap',
    command: ['/usr/bin/render', `--asset-output-dir=${assets('api-bootstrap')}`, ...profile],
    files: ['manifests/0000_10_config-operator_01_infrastructures-Default.crd.yaml'],
    reads: 'manifests/99_feature-gate.yaml',
  },
  {
    image: 'cluster-authentication-operator',
    output: 'auth-api-bootstrap',
    required: 'asset-output-dir',
    command: ['render', `--asset-output-dir=${assets('auth-api-bootstrap/manifests')}`, ...profile],
    files: ['manifests/authorization.openshift.io_rolebindingrestrictions.yaml'],
  },
  {
    image: 'cluster-config-operator',
    output: 'config-bootstrap',
    required: 'asset-input-dir',
    reads: 'manifests/cluster-infrastructure-02-config.yml',
    command: [
      ...['/usr/bin/cluster-config-operator', 'render', '--skip-api-rendering', ...rendered],
      `--cluster-infrastructure-input-file=${infrastructure}`,
      `--cloud-provider-config-output-file=${assets('config-bootstrap/cloud-provider-config-generated.yaml')}`,
      `--config-output-file=${assets('config-bootstrap/config')}`,
      `--asset-input-dir=${assets('tls')}`,
      `--asset-output-dir=${assets('config-bootstrap')}`,
    ],
    files: ['cloud-provider-config-generated.yaml'],
  },
  {
    image: RELEASE_IMAGE,
    output: 'cvo-bootstrap',
    required: 'release-image',
    reads: 'manifests/99_feature-gate.yaml',
    command: [
      ...['render', `--output-dir=${assets('cvo-bootstrap')}`],
      `--release-image=${imageReference(RELEASE_IMAGE)}`,
      `--feature-gate-manifest-path=${manifest('99_feature-gate.yaml')}`,
    ],
    files: [
      'bootstrap/bootstrap-pod.yaml',
      'manifests/0000_00_cluster-version-operator_01_clusterversions-Default.crd.yaml',
    ],
  },
  {
    image: 'cluster-etcd-operator',
    output: 'etcd-bootstrap',
    required: 'etcd-image',
    reads: 'manifests/cluster-config.yaml',
    command: [
      ...['/usr/bin/cluster-etcd-operator', 'render'],
      `--asset-output-dir=${assets('etcd-bootstrap')}`,
      `--cluster-configmap-file=${manifest('cluster-config.yaml')}`,
      `--etcd-image=${imageReference('etcd')}`,
      `--infra-config-file=${infrastructure}`,
      `--network-config-file=${network}`,
    ],
    files: [
      'etc-kubernetes/manifests/etcd-member-pod.yaml',
      'etc-kubernetes/static-pod-resources/etcd-member/etcd-all-certs/etcd-signer.key',
      'manifests/openshift-etcd-etcd-all-certs.yaml',
      'tls/etcd-client.key',
    ],
  },
  {
    image: 'cluster-kube-apiserver-operator',
    output: 'kube-apiserver-bootstrap',
    required: 'operand-kubernetes-version',
    reads: 'manifests/99_feature-gate.yaml',
    command: [
      ...['/usr/bin/cluster-kube-apiserver-operator', 'render', ...rendered],
      ...staticPod('kube-apiserver-bootstrap'),
      '--manifest-etcd-serving-ca=etcd-ca-bundle.crt',
      '--manifest-etcd-server-urls=https://localhost:2379',
      `--manifest-operator-image=${imageReference('cluster-kube-apiserver-operator')}`,
      `--cluster-config-file=${network}`,
      `--cluster-auth-file=${manifest('cluster-authentication-02-config.yaml')}`,
      `--infra-config-file=${infrastructure}`,
      `--operand-kubernetes-version=${OPENSHIFT_KUBERNETES_VERSION}`,
    ],
    files: [
      ...['bootstrap-manifests/kube-apiserver-pod.yaml', 'config'],
      'manifests/0000_20_kube-apiserver-operator_00_scc-restricted-v3.yaml',
      'manifests/secret-bound-sa-token-signing-key.yaml',
    ],
  },
  {
    image: 'cluster-kube-controller-manager-operator',
    output: 'kube-controller-manager-bootstrap',
    required: 'cpc-config-output-file',
    reads: 'auth/kubeconfig',
    command: [
      ...['/usr/bin/cluster-kube-controller-manager-operator', 'render', ...rendered],
      ...staticPod('kube-controller-manager-bootstrap'),
      `--cluster-policy-controller-image=${imageReference('cluster-policy-controller')}`,
      `--cpc-config-output-file=${assets('kube-controller-manager-bootstrap/cpc-config')}`,
      `--cluster-config-file=${network}`,
    ],
    files: ['bootstrap-manifests/kube-controller-manager-pod.yaml', 'config', 'cpc-config'],
  },
  {
    image: 'cluster-kube-scheduler-operator',
    output: 'kube-scheduler-bootstrap',
    required: 'config-output-file',
    command: [
      ...['/usr/bin/cluster-kube-scheduler-operator', 'render'],
      ...staticPod('kube-scheduler-bootstrap'),
    ],
    files: ['bootstrap-manifests/kube-scheduler-pod.yaml', 'config'],
  },
  {
    image: 'cluster-ingress-operator',
    output: 'ingress-operator-manifests',
    required: 'output-dir',
    command: [
      ...['render', '--prefix=cluster-ingress-'],
      `--output-dir=${assets('ingress-operator-manifests')}`,
    ],
    files: ['cluster-ingress-00-custom-resource-definition.yaml'],
  },
  {
    image: 'cluster-node-tuning-operator',
    output: 'cmdbootline-nto-bootstrap',
    required: 'mcp-name',
    command: [
      ...['render-bootcmd-mc', `--asset-input-dir=${assets('manifests')}`, '--mcp-name=master'],
      `--asset-output-dir=${assets('cmdbootline-nto-bootstrap')}`,
    ],
    files: [],
  },
  {
    image: 'machine-config-operator',
    output: 'mco-bootstrap',
    reads: 'tls/root-ca.crt',
    command: [
      ...['bootstrap', `--dest-dir=${assets('mco-bootstrap')}`, payloadVersion],
      `--root-ca=${assets('tls/root-ca.crt')}`,
      `--kube-ca=${assets('tls/kube-apiserver-complete-client-ca-bundle.crt')}`,
      `--config-file=${manifest('cluster-config.yaml')}`,
      `--pull-secret=${manifest('openshift-config-secret-pull-secret.yaml')}`,
      `--release-image=${imageReference(RELEASE_IMAGE)}`,
      `--image-references=${assets('image-references')}`,
    ],
    files: [
      'bootstrap/machineconfigoperator-bootstrap-pod.yaml',
      'bootstrap/manifests/machineconfigcontroller-controllerconfig.yaml',
    ],
  },
  {
    image: 'cloud-credential-operator',
    output: 'cco-bootstrap',
    required: 'dest-dir',
    command: [
      ...['render', `--dest-dir=${assets('cco-bootstrap')}`],
      `--manifests-dir=${assets('manifests')}`,
      `--cloud-credential-operator-image=${imageReference('cloud-credential-operator')}`,
    ],
    files: [],
  },
];
