import { generateKeyPairSync } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Failure } from '../../../../lib/base/errors/failure.ts';
import type { Limits } from '../../../../lib/base/wait/limits.ts';
import { hostArchitecture } from '../../../../lib/host/architecture.ts';
import type { ContainerRun, Podman } from '../../../../lib/render/openshift/podman.ts';
import { RELEASE_FILES } from '../../../../lib/render/openshift/release.ts';
import { imageReferences } from './release.ts';

const privateKey = (): string =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString();

/** Of the installer and of the stages. */
export const keys = {
  admin: privateKey(),
  kubelet: privateKey(),
  joining: privateKey(),
  etcdSigner: privateKey(),
  etcdClient: privateKey(),
};

const secret = (name: string, key: string) =>
  `apiVersion: v1\nkind: Secret\nmetadata:\n  name: ${name}\ndata:\n  tls.key: ${Buffer.from(key).toString('base64')}\n`;

const kubeconfig = (key: string) =>
  `apiVersion: v1\nkind: Config\nusers:\n- name: u\n  user:\n    client-key-data: ${Buffer.from(key).toString('base64')}\n`;

const pod = (name: string, ...containers: string[]) =>
  `kind: Pod\nmetadata: {name: ${name}}\nspec:\n  containers:\n${containers.map((each) => `  - name: ${each}\n`).join('')}`;

type Files = Readonly<Record<string, string>>;

/** What a stage writes below /assets, by the stage, in the shape of a release. */
export const results = (): Record<string, Files> => ({
  'api-bootstrap': {
    'api-bootstrap/manifests/0000_10_apiservers.crd.yaml': 'kind: CustomResourceDefinition\n',
    'manifests/99_feature-gate.yaml': '{"kind":"FeatureGate","status":{"featureGates":[]}}\n',
  },
  'auth-api-bootstrap': {
    'auth-api-bootstrap/manifests/rolebindingrestrictions.yaml': 'kind: RBR\n',
  },
  'config-bootstrap': {
    'config-bootstrap/cloud-provider-config-generated.yaml': 'cloud\n',
    'config-bootstrap/config': 'unused\n',
  },
  'cvo-bootstrap': {
    'cvo-bootstrap/bootstrap/bootstrap-pod.yaml': pod('cvo', 'cluster-version-operator'),
    'cvo-bootstrap/manifests/0000_00_namespace.yaml': 'kind: Namespace\n',
  },
  'etcd-bootstrap': {
    'etcd-bootstrap/etc-kubernetes/manifests/etcd-member-pod.yaml': pod(
      'etcd-m',
      'etcdctl',
      'etcd',
    ),
    'etcd-bootstrap/etc-kubernetes/static-pod-resources/etcd-member/ca.crt': 'etcd CA\n',
    'etcd-bootstrap/etc-kubernetes/static-pod-resources/etcd-member/etcd-all-certs/etcd-signer.key':
      keys.etcdSigner,
    'etcd-bootstrap/manifests/etcd-signer.yaml': secret('etcd-signer', keys.etcdSigner),
    'etcd-bootstrap/tls/etcd-ca-bundle.crt': 'etcd CA\n',
    'etcd-bootstrap/tls/etcd-client.crt': 'etcd client\n',
    'etcd-bootstrap/tls/etcd-client.key': keys.etcdClient,
  },
  'kube-apiserver-bootstrap': {
    'kube-apiserver-bootstrap/config': 'kind: KubeAPIServerConfig\n',
    'kube-apiserver-bootstrap/bootstrap-manifests/kube-apiserver-pod.yaml': pod(
      'kas',
      'kube-apiserver',
      'readyz',
    ),
    'kube-apiserver-bootstrap/manifests/scc.yaml': 'kind: SCC\n',
  },
  'kube-controller-manager-bootstrap': {
    'kube-controller-manager-bootstrap/config': 'kind: KCMConfig\n',
    'kube-controller-manager-bootstrap/cpc-config': 'kind: CPCConfig\n',
    'kube-controller-manager-bootstrap/bootstrap-manifests/kube-controller-manager-pod.yaml': pod(
      'kcm',
      'kube-controller-manager',
      'cluster-policy-controller',
    ),
    'kube-controller-manager-bootstrap/manifests/csr-signer.yaml': 'kind: Secret\n',
  },
  'kube-scheduler-bootstrap': {
    'kube-scheduler-bootstrap/config':
      'leaderElection:\n  resourceNamespace: openshift-kube-scheduler\n',
    'kube-scheduler-bootstrap/bootstrap-manifests/kube-scheduler-pod.yaml': pod(
      'sched',
      'kube-scheduler',
    ),
    'kube-scheduler-bootstrap/manifests/ns.yaml': 'kind: Namespace\n',
  },
  'ingress-operator-bootstrap': {
    'ingress-operator-manifests/cluster-ingress-00.yaml': 'kind: Namespace\n',
  },
  'node-tuning-bootstrap': {},
  'cmdbootline-nto-bootstrap': { 'cmdbootline-nto-bootstrap/kargs.yaml': 'kind: MachineConfig\n' },
  'mco-bootstrap': {
    'mco-bootstrap/bootstrap/manifests/controllerconfig.yaml': 'kind: ControllerConfig\n',
    'mco-bootstrap/bootstrap/machineconfigoperator-bootstrap-pod.yaml': pod(
      'mcs',
      'machine-config-server',
    ),
    'mco-bootstrap/manifests/csr-binding.yaml': 'kind: ClusterRoleBinding\n',
  },
  'cco-bootstrap': {
    'cco-bootstrap/manifests/cco.yaml': 'kind: Namespace\n',
    'cco-bootstrap/bootstrap-manifests/cloud-credential-operator-pod.yaml': pod('cco', 'cco'),
  },
});

/** podman without containers: a render stage writes files into the folder that it would mount. */
export class FakePodman implements Podman {
  version = '4.21.0';
  /** Stages, each with the files that it found. */
  readonly found = new Map<string, string[]>();
  readonly runs: ContainerRun[] = [];
  readonly pulled: string[] = [];
  /** References in its storage. */
  readonly stored = new Map<
    string,
    { digest: string; repoDigests: string[]; architecture: string }
  >();
  mostAtOnce = 0;
  /** The stage whose container fails. */
  failing: string | undefined;
  /** How often each pull fails first. */
  pullFailures = 0;
  /** How many turns of the event loop a stage takes. */
  turns: (stage: string) => number = () => 1;
  /** Nothing ends until so many run at once. */
  together = 1;
  readonly #met = Promise.withResolvers<void>();
  readonly #results: Record<string, Files>;
  readonly #failed = new Map<string, number>();
  #running = 0;

  constructor(files: Record<string, Files> = {}) {
    this.#results = files;
  }

  async run(container: ContainerRun, { signal }: Limits): Promise<string> {
    signal.throwIfAborted();
    this.runs.push(container);
    if (container.entrypoint === 'cat') {
      const isMetadata = container.command[0] === RELEASE_FILES.metadata;
      return isMetadata ? JSON.stringify({ version: this.version }) : imageReferences;
    }
    await this.#begin();
    const stage = container.name.replace('sno-render-', '');
    const assets = (container.volumes[0] ?? '').split(':')[0] ?? '';
    this.found.set(stage, filesBelow(assets));
    for (let turn = 0; turn < this.turns(stage); turn++) await nextTurn();
    this.#running--;
    if (stage === this.failing)
      throw new Failure('retry', `the container ${container.name} failed`);
    for (const [path, contents] of Object.entries(this.#results[stage] ?? {})) {
      mkdirSync(dirname(join(assets, path)), { recursive: true });
      writeFileSync(join(assets, path), contents);
    }
    return '';
  }

  async inspect(reference: string, _name: string, { signal }: Limits) {
    signal.throwIfAborted();
    await nextTurn();
    return this.stored.get(reference);
  }

  async pull(reference: string, _name: string, { signal }: Limits): Promise<void> {
    signal.throwIfAborted();
    await this.#begin();
    await nextTurn();
    this.#running--;
    const failed = this.#failed.get(reference) ?? 0;
    this.#failed.set(reference, failed + 1);
    if (failed < this.pullFailures)
      throw new Failure('retry', `podman could not pull ${reference}`);
    this.pulled.push(reference);
    const digest = reference.split('@')[1] ?? 'sha256:0';
    const architecture = hostArchitecture() ?? '';
    this.stored.set(reference, { digest, repoDigests: [], architecture });
  }

  async #begin(): Promise<void> {
    this.mostAtOnce = Math.max(this.mostAtOnce, ++this.#running);
    if (this.#running >= this.together) this.#met.resolve();
    await this.#met.promise;
  }
}

function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .toSorted();
}

/** What openshift-install writes: `/opt/openshift` of a live host. */
export function installerFiles(): Files {
  return {
    'manifests/cluster-infrastructure-02-config.yml': 'kind: Infrastructure\n',
    'manifests/cluster-network-02-config.yml': 'kind: Network\n',
    'manifests/cluster-config.yaml': 'kind: ConfigMap\n',
    'manifests/openshift-config-secret-pull-secret.yaml': 'kind: Secret\n',
    'openshift/99_feature-gate.yaml': 'kind: FeatureGate\n',
    'openshift/99_machineconfig.yaml': 'kind: MachineConfig\n',
    'tls/root-ca.crt': 'root CA\n',
    'tls/kube-apiserver-complete-client-ca-bundle.crt': 'client CAs\n',
    'tls/kubelet-signer.key': keys.kubelet,
    'tls/machine-config-server.crt': 'MCS\n',
    'tls/machine-config-server.key': keys.kubelet,
    'tls/service-account.key': keys.kubelet,
    'auth/kubeconfig': kubeconfig(keys.admin),
    'auth/kubeconfig-loopback': kubeconfig(keys.admin),
    'auth/kubeconfig-kubelet': kubeconfig(keys.joining),
  };
}

export function writeFiles(folder: string, files: Files): void {
  for (const [path, contents] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), contents);
  }
}

export const readText = (path: string) => readFileSync(path, 'utf8');
