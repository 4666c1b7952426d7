/** The pods of DaemonSets on one node: replaced once their controller knows the new template, and no others. */
import t from 'tap';
import { inTurn, replacePodsOfNode } from '../../../../agents/upkeep/update/nodes-in-turn.ts';
import { decodeManifests } from '../../../../lib/clients/kube/manifest-decoding.ts';
import { startFakeApi } from '../../clients/kube/fake-api.ts';

const SETS = '/apis/apps/v1/namespaces/kube-system/daemonsets';
const PODS = '/api/v1/namespaces/kube-system/pods';
const { manifests } = decodeManifests(
  'kube-proxy.yaml',
  'apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: kube-proxy, namespace: kube-system}\nspec: {template: {}}\n',
);
const wait = { signal: new AbortController().signal, deadlineMs: 60_000, report: () => undefined };

const set = (observed: number) => ({
  metadata: {
    ...{ name: 'kube-proxy', namespace: 'kube-system', generation: 5 },
    annotations: { 'deprecated.daemonset.template.generation': '2' },
  },
  status: { observedGeneration: observed },
});
const pod = (
  name: string,
  template: string,
  node = 'edge-0',
  owner = 'kube-proxy',
  kind = 'DaemonSet',
) => ({
  metadata: {
    ...{ name, namespace: 'kube-system', labels: { 'pod-template-generation': template } },
    ownerReferences: [{ kind, name: owner }],
  },
  spec: { nodeName: node, containers: [{ name: owner, image: 'x' }] },
});

t.test('not before the controller knows the new template', async (t) => {
  const { api, client } = await startFakeApi(t);
  api.set(`${SETS}/kube-proxy`, set(4));
  const job = pod('job', '1', 'edge-0', 'kube-proxy', 'Job');
  const other = pod('other', '1', 'edge-0', 'flannel');
  for (const each of [pod('old', '1'), pod('new', '2'), other, job]) {
    api.set(`${PODS}/${each.metadata.name}`, each);
  }
  let isDone = false;
  const replaced = replacePodsOfNode(client, manifests, 'edge-0', wait).then(() => {
    isDone = true;
  });
  while (api.watchers(SETS) === 0) await new Promise((resolve) => setImmediate(resolve));
  t.notOk(isDone);
  t.ok(api.get(`${PODS}/old`), 'it would come back with the template of before');
  api.set(`${SETS}/kube-proxy`, set(5));
  await replaced;
  t.notOk(api.get(`${PODS}/old`));
  t.ok(api.get(`${PODS}/new`));
  t.ok(api.get(`${PODS}/other`));
  t.ok(api.get(`${PODS}/job`));
});

t.test('a controller that does not see it ends the wait with that', async (t) => {
  const { api, client } = await startFakeApi(t);
  api.set(`${SETS}/kube-proxy`, set(4));
  await t.rejects(replacePodsOfNode(client, manifests, 'edge-0', { ...wait, deadlineMs: 300 }), {
    kind: 'deadline',
    message: /controller to see the new template of DaemonSet kube-system\/kube-proxy/,
  });
});

t.test('only with other nodes does the update wait for each of them', async (t) => {
  const { api, client } = await startFakeApi(t);
  api.set('/api/v1/nodes/edge-0', { metadata: { name: 'edge-0' } });
  t.equal(await inTurn(client, manifests, 'edge-0', wait), manifests, 'alone, it rolls over');
  api.set('/api/v1/nodes/worker-0', { metadata: { name: 'worker-0' } });
  t.match(await inTurn(client, manifests, 'edge-0', wait), [
    { object: { spec: { template: {}, updateStrategy: { type: 'OnDelete' } } } },
  ]);
  api.requests.splice(0);
  t.same(await inTurn(client, [], 'edge-0', wait), []);
  t.same(api.requests, [], 'nobody is asked where no DaemonSet changes');
});
