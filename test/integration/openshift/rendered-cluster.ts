import { copyFile, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import type { Test } from 'tap';
import { parse, stringify } from 'yaml';
import { createAuthority, issueLeaf } from '../../../lab/certificates/signed-now.ts';
import {
  OPERATOR_CRDS,
  openshiftApi,
  PAYLOAD_CRDS,
} from '../../../lab/components/openshift/api.ts';
import { openshiftKubernetes } from '../../../lab/components/openshift/kubernetes.ts';
import { standInOperator } from '../../../lab/components/openshift/operator.ts';
import {
  OPERATOR_DEFINITIONS,
  STATIC_POD_OPERATOR,
} from '../../../lab/components/openshift/release-operators.ts';
import { staticPodOperator } from '../../../lab/components/openshift/static-pod-operator.ts';
import { NODE_ADDRESS, writeBootstrapAssets } from '../../../lab/openshift/bootstrap-assets.ts';
import { startDaemon } from '../../../lab/servers/daemon.ts';
import { objectSchema, type Resource, resources } from '../../../lib/clients/kube/resources.ts';
import { staticPodOperators } from '../../../lib/cluster/openshift/operators.ts';
import { withNetworkStatus } from '../../../lib/render/openshift/network-status.ts';
import { NODE } from '../../unit/cluster/openshift/states.ts';
import { cachedFolder } from './cached.ts';
import { type ForkApiServer, startForkApiServer } from './fork-api-server.ts';

const VERSION = '4.21.0';
const TEMPLATES = join(import.meta.dirname, '../../../lab/components/openshift/operator/templates');
const NETWORK = 'cluster-network-02-config.yml';
const components = [openshiftKubernetes, openshiftApi, standInOperator, staticPodOperator];

export interface RenderedCluster extends ForkApiServer {
  /** As `/opt/openshift`, before any stage. */
  readonly assets: string;
  /** Texts of the manifests that the renders made and that are in the cluster. */
  readonly manifests: readonly string[];
  /** An input that is left out: the members of etcd, the status of the networks. */
  addEtcdEndpoints(): Promise<void>;
  addNetworkStatus(): Promise<void>;
  startOperators(): Promise<void>;
}

/** What is not built of what the cluster needs; false if all is there. */
export async function notBuilt(): Promise<string | false> {
  const folders = await Promise.all(components.map(cachedFolder));
  const missing = components.filter((_, index) => folders[index] === undefined);
  return missing.length === 0 ? false : `not built: ${missing.map(({ name }) => name).join(', ')}`;
}

/**
 * OpenShift's API server, with the manifests that the renders of the lab's release leave there and one node.
 * `inputs`: whether what the operators observe is among them, or left out until it is added.
 */
export async function startRenderedCluster(
  t: Pick<Test, 'testdir' | 'teardown' | 'same'>,
  inputs: 'rendered' | 'left out',
  lifetimeMs: number,
): Promise<RenderedCluster> {
  const folders = await Promise.all(components.map(cachedFolder));
  const [kubernetes = '', api = '', standIn = '', operators = ''] = folders;
  const server = await startForkApiServer(t, kubernetes, lifetimeMs);
  const { folder, controlPlane, admin, limits, apply } = server;
  await applyDefinitions(api, apply);

  const assets = join(folder, 'assets');
  await mkdir(assets);
  await writeBootstrapAssets(assets);
  await apply('feature gate', stringify(featureGate));
  const installers = (name: string) => readFile(join(assets, 'manifests', name), 'utf8');
  const infrastructure = 'cluster-infrastructure-02-config.yml';
  await apply(infrastructure, await installers(infrastructure));
  const [network] = withNetworkStatus([{ name: NETWORK, contents: await installers(NETWORK) }]);
  const complete = parse(network?.contents ?? '');
  await apply(NETWORK, stringify(inputs === 'rendered' ? complete : { ...complete, status: {} }));

  const rendered = await runRenders({ folder, assets, api, standIn });
  for (const each of ['config', 'config-managed', 'etcd']) {
    const name = `openshift-${each}`;
    await apply(name, stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }));
  }
  const files = await readdir(rendered);
  const wanted = files.filter((name) => /ns\.yaml$|^secret-|^configmap-/.test(name)).toSorted();
  const manifests = await Promise.all(wanted.map((name) => readFile(join(rendered, name), 'utf8')));
  for (const [index, name] of wanted.entries()) await apply(name, manifests[index] ?? '');
  for (const object of await etcdObjects()) await apply('etcd', stringify(object));
  const addEtcdEndpoints = () => apply('etcd-endpoints', stringify(etcdEndpoints));
  if (inputs === 'rendered') await addEtcdEndpoints();
  const node = await admin.get(resources.nodes, { name: NODE }, limits);
  await admin.replace(
    resources.nodes,
    { name: NODE, subresource: 'status' },
    { ...node, status: { addresses: [{ type: 'InternalIP', address: NODE_ADDRESS }] } },
    limits,
  );

  return {
    ...server,
    assets,
    manifests,
    addEtcdEndpoints,
    async addNetworkStatus() {
      const place = { name: 'cluster' };
      const body = { ...(await admin.get(networks, place, limits)), status: complete.status };
      await admin.replace(networks, place, body, limits);
    },
    async startOperators() {
      // The operators' environment is this process's.
      process.env.OPERATOR_IMAGE = 'registry.test/static-pod-operator:1';
      t.teardown(() => delete process.env.OPERATOR_IMAGE);
      const access = join(folder, 'admin.kubeconfig');
      const administrator = { name: 'admin', groups: ['system:masters'] };
      await writeFile(access, await controlPlane.kubeconfig(administrator), { mode: 0o600 });
      for (const { component } of staticPodOperators) {
        const daemon = startDaemon(
          join(operators, STATIC_POD_OPERATOR),
          [
            ...['operator', `--component=${component}`, `--kubeconfig=${access}`],
            ...[`--templates=${TEMPLATES}`, `--release-version=${VERSION}`],
            ...['--operand-image=operand', '--operator-image=operator', '--policy-image=policy'],
            '--v=2',
          ],
          join(folder, `${component}-operator.log`),
          lifetimeMs,
        );
        t.teardown(() => daemon.stop());
      }
    },
  };
}

const networks: Resource = {
  apiVersion: 'config.openshift.io/v1',
  plural: 'networks',
  schema: objectSchema,
};

const featureGate = {
  apiVersion: 'config.openshift.io/v1',
  kind: 'FeatureGate',
  metadata: { name: 'cluster' },
  spec: {},
  status: {
    featureGates: [{ version: VERSION, enabled: [{ name: 'A' }], disabled: [{ name: 'B' }] }],
  },
};

const namespace = 'openshift-etcd';

const etcdEndpoints = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'etcd-endpoints', namespace },
  data: { a: NODE_ADDRESS },
};

/** Of the configuration that the operators read, and of their own. */
async function applyDefinitions(api: string, apply: ForkApiServer['apply']): Promise<void> {
  const read =
    /config-operator.*(?:networks|infrastructures|featuregates|authentications)(?:-Default)?\.crd/;
  const payload = (await readdir(join(api, PAYLOAD_CRDS))).filter(
    (name) => name.startsWith('0000_10_') && read.test(name),
  );
  const version = '0000_00_cluster-version-operator_01_';
  for (const path of [
    ...[...payload, ...OPERATOR_DEFINITIONS].map((name) => join(PAYLOAD_CRDS, name)),
    ...['clusteroperators', 'clusterversions-Default'].map((name) =>
      join(OPERATOR_CRDS, `${version}${name}.crd.yaml`),
    ),
  ]) {
    await apply(path, await readFile(join(api, path), 'utf8'));
  }
}

/** Runs the renders of the static pods; returns the folder with their manifests. */
async function runRenders(at: {
  readonly folder: string;
  readonly assets: string;
  readonly api: string;
  readonly standIn: string;
}): Promise<string> {
  const { folder, assets, api, standIn } = at;
  const rendered = join(folder, 'rendered');
  await mkdir(rendered);
  const gates = join(folder, 'gates.yaml');
  await writeFile(gates, stringify(featureGate));
  const definitions = join(folder, 'definitions');
  await mkdir(join(definitions, 'manifests'), { recursive: true });
  const crd = 'kube-apiserver_apirequestcounts.crd.yaml';
  await copyFile(join(api, OPERATOR_CRDS, crd), join(definitions, 'manifests', crd));
  const apiServer = [
    '--manifest-operator-image=x',
    '--operand-kubernetes-version=1.34.1',
    `--templates-input-dir=${definitions}`,
  ];
  for (const [component, args] of [
    ['kube-apiserver', apiServer],
    ['kube-controller-manager', [`--cpc-config-output-file=${rendered}/cpc`]],
    ['kube-scheduler', []],
  ] as const) {
    const program = join(folder, `cluster-${component}-operator`);
    await symlink(join(standIn, 'operator'), program);
    const common = [
      `--asset-input-dir=${assets}/tls`,
      `--asset-output-dir=${rendered}`,
      `--config-output-file=${rendered}/config`,
      `--rendered-manifest-files=${gates}`,
      `--payload-version=${VERSION}`,
    ];
    await execa(program, ['render', ...common, ...args]);
  }
  return join(rendered, 'manifests');
}

/** What etcd's render leaves, except its members, and the node. */
async function etcdObjects(): Promise<object[]> {
  const etcd = await createAuthority('etcd-signer');
  const client = await issueLeaf(etcd, { subject: { commonName: 'etcd' }, usage: 'client' });
  return [
    {
      kind: 'ConfigMap',
      metadata: { name: 'etcd-ca-bundle', namespace },
      data: { 'ca-bundle.crt': etcd.certificate },
    },
    {
      kind: 'Secret',
      metadata: { name: 'etcd-client', namespace },
      stringData: { 'tls.crt': client.certificate, 'tls.key': client.key },
    },
    {
      kind: 'Secret',
      metadata: { name: 'etcd-all-certs', namespace },
      stringData: { 'peer.crt': 'any' },
    },
    { kind: 'Node', metadata: { name: NODE, labels: { 'node-role.kubernetes.io/master': '' } } },
  ].map((object) => ({ apiVersion: 'v1', ...object }));
}
