/**
 * What the lab's static pod operators make a revision of, in a cluster with the manifests that the
 * renders of the lab's release left: OpenShift's API server, and no node. Needs components that
 * `npm run lab -- --scenario openshift-components` builds.
 */
import { copyFile, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import t from 'tap';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
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
import { resources } from '../../../lib/kube/resources.ts';
import { watchUntil } from '../../../lib/kube/watch-objects.ts';
import { createAuthority } from '../../../lib/pki/authority.ts';
import { issueLeaf } from '../../../lib/pki/leaf.ts';
import { keyFingerprintsIn } from '../../../lib/render/private-keys.ts';
import { cachedFolder } from './cached.ts';
import { startForkApiServer } from './fork-api-server.ts';

const LIFETIME_MS = 600_000;
const VERSION = '4.21.0';
const NODE = 'sno.lab.local';
const TEMPLATES = join(import.meta.dirname, '../../../lab/components/openshift/operator/templates');
const components = [openshiftKubernetes, openshiftApi, standInOperator, staticPodOperator];
const folders = await Promise.all(components.map(cachedFolder));
const missing = components.filter((_, index) => folders[index] === undefined);
const skip =
  missing.length === 0 ? false : `not built: ${missing.map(({ name }) => name).join(', ')}`;

/** Names of static pod operators with what belongs to a revision besides the pod. */
const operands = {
  etcd: { namespace: 'openshift-etcd', secrets: [] },
  'kube-apiserver': {
    namespace: 'openshift-kube-apiserver',
    secrets: ['credentials', 'node-kubeconfigs'],
  },
  'kube-controller-manager': {
    namespace: 'openshift-kube-controller-manager',
    secrets: ['credentials'],
  },
  'kube-scheduler': { namespace: 'openshift-kube-scheduler', secrets: ['credentials'] },
} as const;

t.test('static pods of the operators', { skip, timeout: LIFETIME_MS }, async (t) => {
  const [kubernetes = '', api = '', standIn = '', operators = ''] = folders;
  const server = await startForkApiServer(t, kubernetes, LIFETIME_MS);
  const { folder, controlPlane, admin, limits, apply } = server;
  const dataSchema = z.record(z.string(), z.string());
  const definitions = [
    ...(await readdir(join(api, PAYLOAD_CRDS)))
      .filter((name) =>
        /(?:networks|infrastructures|featuregates|authentications)(?:-Default)?\.crd/.test(name),
      )
      .filter((name) => name.startsWith('0000_10_config-operator')),
    ...OPERATOR_DEFINITIONS,
  ].map((name) => join(PAYLOAD_CRDS, name));
  const operator = '0000_00_cluster-version-operator_01_clusteroperators.crd.yaml';
  for (const path of [...definitions, join(OPERATOR_CRDS, operator)]) {
    await apply(path, await readFile(join(api, path), 'utf8'));
  }

  const assets = join(folder, 'assets');
  await mkdir(assets);
  await writeBootstrapAssets(assets);
  const featureGate = {
    apiVersion: 'config.openshift.io/v1',
    kind: 'FeatureGate',
    metadata: { name: 'cluster' },
    spec: {},
    status: {
      featureGates: [{ version: VERSION, enabled: [{ name: 'A' }], disabled: [{ name: 'B' }] }],
    },
  };
  const manifests = join(assets, 'manifests');
  await apply('feature gate', stringify(featureGate));
  for (const name of ['cluster-infrastructure-02-config.yml', 'cluster-network-02-config.yml']) {
    await apply(name, await readFile(join(manifests, name), 'utf8'));
  }
  const rendered = join(folder, 'rendered');
  await mkdir(rendered);
  const gates = join(folder, 'gates.yaml');
  await writeFile(gates, stringify(featureGate));
  for (const [name, args] of [
    [
      'cluster-kube-apiserver-operator',
      [
        '--manifest-operator-image=x',
        '--operand-kubernetes-version=1.34.1',
        `--templates-input-dir=${join(folder, 'definitions')}`,
      ],
    ],
    ['cluster-kube-controller-manager-operator', [`--cpc-config-output-file=${rendered}/cpc`]],
    ['cluster-kube-scheduler-operator', []],
  ] as const) {
    const program = join(folder, name);
    await symlink(join(standIn, 'operator'), program);
    await mkdir(join(folder, 'definitions/manifests'), { recursive: true });
    const crd = 'kube-apiserver_apirequestcounts.crd.yaml';
    await copyFile(join(api, OPERATOR_CRDS, crd), join(folder, 'definitions/manifests', crd));
    const common = [
      `--asset-input-dir=${assets}/tls`,
      `--asset-output-dir=${rendered}`,
      `--config-output-file=${rendered}/config`,
      `--rendered-manifest-files=${gates}`,
      `--payload-version=${VERSION}`,
    ];
    await execa(program, ['render', ...common, ...args]);
  }
  const namespaced = (namespace: string) =>
    apply(
      namespace,
      stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }),
    );
  for (const each of ['config', 'config-managed', 'etcd']) await namespaced(`openshift-${each}`);
  const files = await readdir(join(rendered, 'manifests'));
  const wanted = files.filter((name) => /ns\.yaml$|^secret-|^configmap-/.test(name)).toSorted();
  for (const name of wanted) {
    await apply(name, await readFile(join(rendered, 'manifests', name), 'utf8'));
  }
  const etcd = await createAuthority('etcd-signer');
  const client = await issueLeaf(etcd, { subject: { commonName: 'etcd' }, usage: 'client' });
  const namespace = 'openshift-etcd';
  await apply(
    'etcd',
    [
      {
        kind: 'ConfigMap',
        metadata: { name: 'etcd-ca-bundle', namespace },
        data: { 'ca-bundle.crt': etcd.certificate },
      },
      {
        kind: 'ConfigMap',
        metadata: { name: 'etcd-endpoints', namespace },
        data: { a: NODE_ADDRESS },
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
    ]
      .map((object) => stringify({ apiVersion: 'v1', ...object }))
      .join('---\n'),
  );
  const node = await admin.get(resources.nodes, { name: NODE }, limits);
  await admin.replace(
    resources.nodes,
    { name: NODE, subresource: 'status' },
    { ...node, status: { addresses: [{ type: 'InternalIP', address: NODE_ADDRESS }] } },
    limits,
  );

  process.env.OPERATOR_IMAGE = 'registry.test/static-pod-operator:1';
  t.teardown(() => delete process.env.OPERATOR_IMAGE);
  const access = join(folder, 'admin.kubeconfig');
  const kubeconfig = await controlPlane.kubeconfig({ name: 'admin', groups: ['system:masters'] });
  await writeFile(access, kubeconfig, { mode: 0o600 });
  for (const component of Object.keys(operands)) {
    const daemon = startDaemon(
      join(operators, STATIC_POD_OPERATOR),
      [
        ...[
          'operator',
          `--component=${component}`,
          `--kubeconfig=${access}`,
          `--templates=${TEMPLATES}`,
        ],
        ...[`--release-version=${VERSION}`, '--operand-image=operand', '--operator-image=operator'],
        ...['--policy-image=policy', '--v=2'],
      ],
      join(folder, `${component}-operator.log`),
      LIFETIME_MS,
    );
    t.teardown(() => daemon.stop());
  }

  /** The keys that openshift-install gave to the bootstrap and that no manifest has. */
  const gone = async () => {
    const texts = await Promise.all(
      (await readdir(join(assets, 'tls'))).map((name) =>
        readFile(join(assets, 'tls', name), 'utf8'),
      ),
    );
    const inManifests = await Promise.all(
      wanted.map((name) => readFile(join(rendered, 'manifests', name), 'utf8')),
    );
    const adopted = new Set(inManifests.flatMap(keyFingerprintsIn));
    return texts.flatMap(keyFingerprintsIn).filter((key) => !adopted.has(key));
  };

  for (const [component, { namespace, secrets }] of Object.entries(operands)) {
    await t.test(component, async (t) => {
      const name = `${component}-pod-1`;
      const found = await watchUntil(
        admin,
        resources.configMaps,
        { namespace },
        (all) => all.get(`${namespace}/${name}`),
        { ...limits, what: name, describe: () => 'no revision', report: () => undefined },
      );
      const text = found.data?.['pod.yaml'] ?? '';
      const pod = parse(text);
      t.match(parse(text.replaceAll('REVISION', '1')).metadata.labels, { revision: '1' });
      t.equal(pod.metadata.namespace, namespace);
      t.notMatch(text, /bootstrap-(?:secrets|configs)|etcd-member/, 'nothing of the bootstrap');
      t.match(text, `/etc/kubernetes/static-pod-resources/${component}-pod-REVISION`);
      t.match(text, /while .*ss -Hltn/, 'it waits for its ports');
      for (const secret of secrets) {
        const place = { namespace, name: secret };
        const { data } = await admin.get(resources.secrets, place, limits);
        const texts = Object.values(dataSchema.parse(data)).map((each) =>
          Buffer.from(each, 'base64').toString(),
        );
        const keys = texts.flatMap(keyFingerprintsIn);
        t.ok(keys.length > 0, `${secret} has keys`);
        const left = await gone();
        t.ok(left.length > 0, 'the bootstrap has keys of its own');
        t.same(
          keys.filter((key) => left.includes(key)),
          [],
          `no key of the bootstrap in ${secret}`,
        );
      }
    });
  }
});
