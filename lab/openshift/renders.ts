import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { commandOf } from '../../lib/render/openshift/command.ts';
import { parseRelease, RELEASE_FILES } from '../../lib/render/openshift/release.ts';
import { stagesIn } from '../../lib/render/openshift/stage.ts';
import { STAGES } from '../../lib/render/openshift/stages.ts';
import { RELEASE_IMAGE } from '../components/openshift/images.ts';
import { imageReference } from '../components/openshift/release.ts';
import type { ImageRoots } from './image-roots.ts';

/** What is known of the render of a stage. */
interface Expected {
  /** Paths in the assets that it must write. */
  readonly files: readonly string[];
  /** A flag without which it must fail. */
  readonly required?: string;
  /** A file of the assets without which it must fail. */
  readonly reads?: string;
}

/** A stage of the product's table, with its arguments for the lab's release. */
export interface Render extends Expected {
  /** Name of the stage. */
  readonly name: string;
  readonly image: string;
  readonly command: readonly string[];
}

const within = (folder: string, names: readonly string[]) =>
  names.map((name) => `${folder}/${name}`);

const featureGate = 'manifests/99_feature-gate.yaml';

/** By the name of the stage. */
const expected: Readonly<Record<string, Expected>> = {
  'api-bootstrap': {
    files: within('api-bootstrap/manifests', [
      '0000_10_config-operator_01_infrastructures-Default.crd.yaml',
    ]),
    reads: featureGate,
  },
  'auth-api-bootstrap': {
    required: 'asset-output-dir',
    files: within('auth-api-bootstrap/manifests', [
      'authorization.openshift.io_rolebindingrestrictions.yaml',
    ]),
  },
  'config-bootstrap': {
    required: 'asset-input-dir',
    reads: 'manifests/cluster-infrastructure-02-config.yml',
    files: within('config-bootstrap', ['cloud-provider-config-generated.yaml']),
  },
  'cvo-bootstrap': {
    required: 'release-image',
    reads: featureGate,
    files: within('cvo-bootstrap', [
      'bootstrap/bootstrap-pod.yaml',
      'manifests/0000_00_cluster-version-operator_01_clusterversions-Default.crd.yaml',
    ]),
  },
  'etcd-bootstrap': {
    required: 'etcd-image',
    reads: 'manifests/cluster-config.yaml',
    files: within('etcd-bootstrap', [
      'etc-kubernetes/manifests/etcd-member-pod.yaml',
      'etc-kubernetes/static-pod-resources/etcd-member/etcd-all-certs/etcd-signer.key',
      'manifests/openshift-etcd-etcd-all-certs.yaml',
      'tls/etcd-client.key',
    ]),
  },
  'kube-apiserver-bootstrap': {
    required: 'operand-kubernetes-version',
    reads: featureGate,
    files: within('kube-apiserver-bootstrap', [
      'bootstrap-manifests/kube-apiserver-pod.yaml',
      'config',
      'manifests/0000_20_kube-apiserver-operator_00_scc-restricted-v3.yaml',
      'manifests/secret-bound-sa-token-signing-key.yaml',
    ]),
  },
  'kube-controller-manager-bootstrap': {
    required: 'cpc-config-output-file',
    reads: 'auth/kubeconfig',
    files: within('kube-controller-manager-bootstrap', [
      'bootstrap-manifests/kube-controller-manager-pod.yaml',
      'config',
      'cpc-config',
    ]),
  },
  'kube-scheduler-bootstrap': {
    required: 'config-output-file',
    files: within('kube-scheduler-bootstrap', [
      'bootstrap-manifests/kube-scheduler-pod.yaml',
      'config',
    ]),
  },
  'ingress-operator-bootstrap': {
    required: 'output-dir',
    files: within('ingress-operator-manifests', [
      'cluster-ingress-00-custom-resource-definition.yaml',
    ]),
  },
  'node-tuning-bootstrap': { files: [] },
  'cmdbootline-nto-bootstrap': { required: 'mcp-name', files: [] },
  'mco-bootstrap': {
    reads: 'tls/root-ca.crt',
    files: within('mco-bootstrap/bootstrap', [
      'machineconfigoperator-bootstrap-pod.yaml',
      'manifests/machineconfigcontroller-controllerconfig.yaml',
    ]),
  },
  'cco-bootstrap': { required: 'dest-dir', files: [] },
};

/**
 * The stages with which the product renders the lab's release, in an order in which each finds what it
 * reads. @throws if the table has a stage that is not described here, or the other way round
 */
export async function rendersOf(roots: ImageRoots, signal: AbortSignal): Promise<Render[]> {
  const { tree } = await roots.of(RELEASE_IMAGE, signal);
  const release = parseRelease(imageReference(RELEASE_IMAGE), {
    imageReferences: await readFile(join(tree, RELEASE_FILES.imageReferences), 'utf8'),
    metadata: await readFile(join(tree, RELEASE_FILES.metadata), 'utf8'),
  });
  const stages = stagesIn(release.stages, STAGES);
  const described = Object.keys(expected);
  const names = stages.map(({ name }) => name);
  const unpaired = [
    ...names.filter((name) => !described.includes(name)),
    ...described.filter((name) => !names.includes(name)),
  ];
  if (unpaired.length > 0) throw new Error(`stages without a pair: ${unpaired.join(', ')}`);
  const isPresent = (path: string) => existsSync(join(roots.assets, path));
  return stages.map((stage) => ({
    name: stage.name,
    image: stage.image,
    command: commandOf(stage, release, isPresent),
    ...(expected[stage.name] ?? { files: [] }),
  }));
}
