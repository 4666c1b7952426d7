/** Values in manifests that the API refuses since they are no texts. */
import t from 'tap';
import { deferManifests, valueFaults } from '../../../cli/create/defer-manifests.ts';
import { objectFault } from '../../../cli/create/object-faults.ts';
import { otherThanText } from '../../../cli/create/text-values.ts';
import { decodeManifests } from '../../../lib/clients/kube/manifest-decoding.ts';
import {
  NO_OBJECTS,
  NO_PARTS,
  OBJECTS,
  OTHER_THAN_TEXT,
  PARTS,
  TEXTS,
  UNKNOWN,
} from './text-values.ts';

const judge = (text: string) => {
  const { manifests, undecodable } = decodeManifests('a.yaml', text);
  if (undecodable.length > 0) throw new Error(JSON.stringify(undecodable));
  return manifests.map(otherThanText).find((each) => each !== undefined);
};

t.test('texts that YAML takes for something else', async (t) => {
  for (const [text, says] of OTHER_THAN_TEXT) {
    t.match(judge(text), says, text);
    t.notMatch(judge(text), /hunter2|1234|8080/, 'values are not shown');
  }
});

t.test('objects that no API server takes', async (t) => {
  const of = (text: string) => decodeManifests('a.yaml', text).manifests.map(objectFault);
  for (const [text, says] of [...NO_OBJECTS, ...NO_PARTS, ...UNKNOWN]) {
    t.match(of(text), [says], text.slice(0, 300));
  }
  for (const text of [
    ...OBJECTS,
    ...PARTS,
    'apiVersion: scheduling.k8s.io/v1alpha1\nkind: Workload\nmetadata: {name: a}',
    'apiVersion: resource.k8s.io/v1beta1\nkind: DeviceClass\nmetadata: {name: a}',
    'apiVersion: networking.k8s.io/v1beta1\nkind: ServiceCIDR\nmetadata: {name: a}',
    'apiVersion: autoscaling/v1\nkind: HorizontalPodAutoscaler\nmetadata: {name: a}',
    'apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: system-node-critical}\nvalue: 2000001000',
    'apiVersion: user.openshift.io/v1\nkind: Identity\nmetadata: {name: "htpasswd:Clerk"}',
    'apiVersion: example.com/v1\nkind: pod\nmetadata: {name: a}',
    'apiVersion: isindir.github.com/v1alpha3\nkind: SopsSecret\nmetadata: {name: a}\nsops: {mac: x}',
    'apiVersion: certificates.k8s.io/v1beta1\nkind: ClusterTrustBundle\nmetadata: {name: "a:b:c"}',
    'apiVersion: apps/v1\nkind: ControllerRevision\nmetadata: {name: a}\nrevision: 1',
  ]) {
    t.strictSame(of(text), [undefined], text.slice(0, 300));
  }
});

const manifest = (kind: string, metadata: string, apiVersion = 'v1') =>
  `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {${metadata}}\n---\n`;
const faultsOf = (...texts: readonly string[]) =>
  deferManifests({
    manifests: [{ path: 'manifests/a.yaml', contents: Buffer.from(texts.join('')) }],
    skipped: [],
    faults: [],
  }).faults;
const tills = (scope: string, ...versions: readonly string[]) =>
  manifest('CustomResourceDefinition', 'name: tills.x.io', 'apiextensions.k8s.io/v1').replace(
    '---',
    `spec: {group: x.io, names: {plural: tills, kind: Till}, scope: ${scope}, versions: [${versions.join(', ')}]}\n---`,
  );
const V1 = '{name: v1, served: true}';
const FORMER = '{name: v1alpha1, served: false}';

t.test('a version that the definition beside it does not serve', async (t) => {
  const till = (version: string, name = 'a') =>
    manifest('Till', `name: ${name}`, `x.io/${version}`);
  t.match(faultsOf(tills('Cluster', V1, FORMER), till('v1alpha1'), till('v1', 'b')), [
    /a\.yaml:6: apiVersion: expected x\.io\/v1, found x\.io\/v1alpha1\. Write what is served/,
  ]);
  t.match(faultsOf(till('v2'), tills('Cluster', V1)), [/found x\.io\/v2/]);
  t.strictSame(faultsOf(till('v2')), [], 'it is applied later');
  t.strictSame(faultsOf(till('v2'), tills('Cluster', V1, '{name: v2, served: true}')), []);
  const schema = (version: string) =>
    manifest('FlowSchema', 'name: a', `flowcontrol.apiserver.k8s.io/${version}`);
  t.match(faultsOf(schema('v1beta3')), [/expected flowcontrol\.apiserver\.k8s\.io\/v1, found/]);
  t.strictSame(faultsOf(schema('v1')), []);
});

t.test('a namespace that nobody makes', async (t) => {
  const inShop = manifest('ConfigMap', 'name: a, namespace: shop');
  t.match(faultsOf(manifest('ConfigMap', 'name: b'), inShop), [
    /^manifests\/a\.yaml:5: metadata\.namespace: .* found "shop"\. Add .*name: shop/,
  ]);
  t.strictSame(faultsOf(inShop, manifest('Namespace', 'name: shop')), []);
  for (const [kind, apiVersion] of [
    ['HorizontalPodAutoscaler', 'autoscaling/v2'],
    ['EndpointSlice', 'discovery.k8s.io/v1'],
    ['Lease', 'coordination.k8s.io/v1'],
  ] as const) {
    t.match(faultsOf(manifest(kind, 'name: a, namespace: shop', apiVersion)), [/found "shop"/]);
  }
  const till = manifest('Till', 'name: a, namespace: shop', 'x.io/v1');
  t.match(faultsOf(till, tills('Namespaced', V1)), [/metadata\.namespace: .*found "shop"/]);
  t.strictSame(faultsOf(till, tills('Cluster', V1)), []);
  t.match(faultsOf(manifest('ConfigMap', 'name: a, namespace: My_NS')), [/Rename it\.$/]);
  t.strictSame(
    faultsOf(
      ...['default', 'kube-system', 'local-path-storage'].map((name) =>
        manifest('ConfigMap', `name: a, namespace: ${name}`),
      ),
      manifest('Route', 'name: a, namespace: later', 'route.openshift.io/v1'),
      manifest('toString', 'name: a, namespace: later', 'example.com/constructor'),
      manifest('ClusterRole', 'name: a, namespace: chart', 'rbac.authorization.k8s.io/v1'),
    ),
    [],
  );
});

t.test('a file for kubectl kustomize', async (t) => {
  const of = (path: string, text: string) =>
    deferManifests({
      manifests: [{ path, contents: Buffer.from(text) }],
      skipped: [],
      faults: [],
    }).faults;
  const given = 'resources: [a.yaml]\n';
  const versioned = `apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n${given}`;
  for (const [path, text] of [
    ['manifests/a/kustomization.yaml', given],
    ['manifests/kustomization.yml', given],
    ['manifests/a.yaml', versioned],
    ['manifests/a.yaml', `${versioned}metadata: {name: a}\n`],
    ['manifests/a.yaml', `kind: Kustomization\n${given}`],
  ] as const) {
    t.match(of(path, text), [
      /:1: the document: .*Put what "kubectl kustomize FOLDER" prints here/,
    ]);
  }
  const ofFlux = 'apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n';
  t.strictSame(of('manifests/kustomization.yaml', `${ofFlux}metadata: {name: a}\n`), []);
});

t.test('objects out of a cluster', async (t) => {
  const of = (metadata: string) =>
    decodeManifests(
      'a.yaml',
      `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a${metadata}}\n`,
    ).manifests.flatMap(valueFaults);
  t.match(of(', resourceVersion: "123", uid: 1-2'), [
    /^a\.yaml:1: metadata\.resourceVersion: .*Remove/,
  ]);
  for (const taken of ['', ', uid: 1-2', ', resourceVersion: ""', ', resourceVersion: "0"']) {
    t.same(of(taken), [], taken);
  }
});

t.test('right ones, and kinds whose fields are their own', async (t) => {
  for (const text of [
    ...TEXTS,
    'apiVersion: example.com/v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {port: 8080}',
    'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {replicas: 1}',
    'apiVersion: example.com/v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{args: [1]}]}',
    'apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: none}',
  ]) {
    t.equal(judge(text), undefined, text);
  }
});
