/** Values in manifests that the API refuses since they are no texts. */
import t from 'tap';
import { deferManifests, valueFaults } from '../../../cli/create/defer-manifests.ts';
import { objectFault } from '../../../cli/create/object-faults.ts';
import { otherThanText } from '../../../cli/create/text-values.ts';
import { decodeManifests } from '../../../lib/clients/kube/manifest-decoding.ts';
import { NO_OBJECTS, OBJECTS, OTHER_THAN_TEXT, TEXTS, UNKNOWN } from './text-values.ts';

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
  for (const [text, says] of [...NO_OBJECTS, ...UNKNOWN]) t.match(of(text), [says], text);
  for (const text of [
    ...OBJECTS,
    'apiVersion: user.openshift.io/v1\nkind: Identity\nmetadata: {name: "htpasswd:Clerk"}',
    'apiVersion: example.com/v1\nkind: pod\nmetadata: {name: a}',
    'apiVersion: isindir.github.com/v1alpha3\nkind: SopsSecret\nmetadata: {name: a}\nsops: {mac: x}',
    'apiVersion: certificates.k8s.io/v1beta1\nkind: ClusterTrustBundle\nmetadata: {name: "a:b:c"}',
    'apiVersion: apps/v1\nkind: ControllerRevision\nmetadata: {name: a}\nrevision: 1',
  ]) {
    t.strictSame(of(text), [undefined], text);
  }
});

t.test('a namespace that nobody makes', async (t) => {
  const manifest = (kind: string, metadata: string, apiVersion = 'v1') =>
    `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {${metadata}}\n---\n`;
  const faultsOf = (...texts: readonly string[]) =>
    deferManifests({
      manifests: [{ path: 'manifests/a.yaml', contents: Buffer.from(texts.join('')) }],
      skipped: [],
      faults: [],
    }).faults;
  const inShop = manifest('ConfigMap', 'name: a, namespace: shop');
  t.match(faultsOf(manifest('ConfigMap', 'name: b'), inShop), [
    /^manifests\/a\.yaml:5: metadata\.namespace: .* found "shop"\. Add .*name: shop/,
  ]);
  t.strictSame(faultsOf(inShop, manifest('Namespace', 'name: shop')), []);
  t.match(faultsOf(manifest('ConfigMap', 'name: a, namespace: My_NS')), [/Rename it\.$/]);
  t.strictSame(
    faultsOf(
      ...['default', 'kube-system', 'local-path-storage'].map((name) =>
        manifest('ConfigMap', `name: a, namespace: ${name}`),
      ),
      manifest('Route', 'name: a, namespace: later', 'route.openshift.io/v1'),
      manifest('toString', 'name: a, namespace: later', 'constructor'),
      manifest('ClusterRole', 'name: a, namespace: chart', 'rbac.authorization.k8s.io/v1'),
    ),
    [],
  );
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
