/** When an update has settled: the control plane of its payload, its add-ons, and a host on which nothing changes. */
import t from 'tap';
import { settleUpdate } from '../../../../agents/upkeep/update/settle.ts';
import { components } from '../../../../lib/render/kubernetes/static-pod.ts';
import { listOf, refuse } from '../host/api.ts';
import { type Differs, EARLIER, id, LATER, lease, NOW, podOf, settling } from './settling-host.ts';

t.test(
  'the runtime is asked first, then the API server, then the add-ons are applied, then nothing changes',
  async (t) => {
    const contents =
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: add-on, namespace: kube-system}\ndata: {is: new}\n';
    const it = await settling(t, { manifests: [{ name: 'add-on.yaml', contents }] });
    t.same(await it.run(), { kind: 'done', note: 'nothing changes any more' });
    t.same(
      [...new Set(it.asked)],
      [...['runtime', 'readyz', 'mirror pods', 'add-on new', 'steady']],
    );
    t.ok(
      await settleUpdate.holds(it.context, it.host.progress()),
      'it is seen in its run, never before',
    );
  },
);

const generation = 'deprecated.daemonset.template.generation';
t.test('with workers, the pods of DaemonSets are replaced on the own node only', async (t) => {
  const sets = '/apis/apps/v1/namespaces/kube-system/daemonsets/kube-proxy';
  const podOn = (name: string, of: string, template: string) => ({
    metadata: {
      ...{ name, namespace: 'kube-system', labels: { 'pod-template-generation': template } },
      ownerReferences: [{ kind: 'DaemonSet', name: of }],
    },
    spec: { containers: [{ name: of, image: 'x' }] },
  });
  const contents =
    'apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: kube-proxy, namespace: kube-system}\nspec: {template: {}}\n';
  for (const [workers, strategy, expected, isRefused = false] of [
    [['worker-0'], { type: 'OnDelete' }, ['kube-proxy-old']],
    [['worker-0'], { type: 'OnDelete' }, ['kube-proxy-old'], true],
    [[], undefined, []],
  ] as const) {
    const deleted: string[] = [];
    const applied: unknown[] = [];
    const it = await settling(t, {
      manifests: [{ name: 'kube-proxy.yaml', contents }],
      nodes: workers,
      ownPods: [
        podOn('kube-proxy-old', 'kube-proxy', '1'),
        podOn('kube-proxy-new', 'kube-proxy', '2'),
        podOn('other', 'flannel', '1'),
      ],
      answers: {
        'GET /apis/apps/v1': () => ({
          resources: [{ name: 'daemonsets', kind: 'DaemonSet', namespaced: true, verbs: ['list'] }],
        }),
        [`PATCH ${sets}`]: ({ body }) => {
          applied.push(JSON.parse(body).spec.updateStrategy);
          return {};
        },
        [`GET ${sets.replace(/\/kube-proxy$/, '')}`]: () =>
          listOf({
            metadata: {
              ...{ namespace: 'kube-system', name: 'kube-proxy', generation: 5 },
              annotations: { [generation]: '2' },
            },
            status: { observedGeneration: 5 },
          }),
        ...Object.fromEntries(
          ['kube-proxy-old', 'kube-proxy-new', 'other'].map((name) => [
            `DELETE /api/v1/namespaces/kube-system/pods/${name}`,
            () => {
              deleted.push(name);
              return isRefused ? refuse(403) : {};
            },
          ]),
        ),
      },
    });
    if (isRefused) await t.rejects(it.run(), { message: /refused by the test/ });
    else await it.run();
    t.same(applied, [strategy]);
    t.same(deleted, expected);
  }
});

t.test('that the controller does not know the new template yet is said', async (t) => {
  const sets = '/apis/apps/v1/namespaces/kube-system/daemonsets';
  const metadata = { namespace: 'kube-system', name: 'kube-proxy' };
  const contents =
    'apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: kube-proxy, namespace: kube-system}\nspec: {template: {}}\n';
  const resources = [{ name: 'daemonsets', kind: 'DaemonSet', namespaced: true, verbs: ['list'] }];
  const it = await settling(t, {
    manifests: [{ name: 'kube-proxy.yaml', contents }],
    nodes: ['worker-0'],
    answers: {
      'GET /apis/apps/v1': () => ({ resources }),
      [`PATCH ${sets}/kube-proxy`]: () => ({}),
      [`GET ${sets}`]: () =>
        listOf({ metadata: { ...metadata, generation: 5 }, status: { observedGeneration: 4 } }),
    },
  });
  const stop = new AbortController();
  const run = it.run({ signal: stop.signal });
  await Promise.race([it.host.said(/not yet/), run]);
  stop.abort(new Error('stopped by the test'));
  await t.rejects(run, { message: 'stopped by the test' });
});

/** Judged by its deadline, whatever was seen until then. */
const OTHER_IMAGES: readonly (readonly [why: string, differs: Differs, what: RegExp])[] = [
  [
    'a component from the image of before',
    {
      running: () =>
        components.map((name) => ({ name, id: id(name === 'etcd' ? 'before' : name) })),
    },
    /the control plane to run the images of the payload/,
  ],
  [
    'the manifest of before under the same image',
    { pods: () => components.map((name) => podOf(name, { image: `r.test/${name}:1` })) },
    /the kubelet to run the manifests of the payload/,
  ],
];
for (const [why, differs, what] of OTHER_IMAGES) {
  t.test(`not settled: ${why}`, async (t) => {
    const it = await settling(t, differs);
    await t.rejects(it.run({ leftMs: 1500 }), { kind: 'deadline', message: what });
    t.notOk(it.asked.includes('steady'));
  });
}

const MOVING: readonly (readonly [why: string, differs: Differs, found: RegExp])[] = [
  [
    'a leader of before this boot',
    { leases: [lease('kube-controller-manager'), lease('kube-scheduler', EARLIER)] },
    /Lease kube-system\/kube-scheduler has no leader: .*before this boot/,
  ],
  [
    'no leader at all',
    { leases: [lease('kube-scheduler')] },
    /Lease kube-system\/kube-controller-manager has no leader/,
  ],
  [
    'pods of before this boot',
    { pods: () => components.map((name) => podOf(name, { startedAt: EARLIER })) },
    /Pod kube-system\/etcd-edge-0.*before this boot/,
  ],
  ['a window that has only begun', { windowMs: 600_000 }, /it has to stay so for 600 s/],
  ['a scheduled restart', { scheduled: 'MODE=reboot\n' }, /has a reboot scheduled/],
];
for (const [why, differs, found] of MOVING) {
  t.test(`not settled: ${why}`, async (t) => {
    const it = await settling(t, differs);
    const stop = new AbortController();
    const run = it.run({ signal: stop.signal });
    await Promise.race([it.host.said(found), run]);
    stop.abort(new Error('stopped by the test'));
    await t.rejects(run, { message: 'stopped by the test' });
  });
}

t.test('what keeps it from settling until its deadline is its failure', async (t) => {
  const it = await settling(t, { leases: [lease('kube-scheduler')] });
  await t.rejects(it.run({ leftMs: 8000 }), {
    kind: 'deadline',
    message: /^the host did not settle with the update; expected no change for 0\.05 s; found ./,
  });
});

t.test('an add-on that the API refuses is no settled update', async (t) => {
  const contents =
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: add-on, namespace: kube-system}\n';
  const it = await settling(t, {
    manifests: [{ name: 'add-on.yaml', contents }],
    answers: { 'PATCH /api/v1/namespaces/kube-system/configmaps/add-on': () => refuse(403) },
  });
  await t.rejects(it.run(), { message: /refused by the test/ });
});

t.test('leaders that end only as the kubelet takes up their manifests are forgotten', async (t) => {
  let isDeleted = false;
  const path = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler';
  const it = await settling(t, {
    createdAt: new Date(Date.parse(NOW) + 60_000),
    leases: () => {
      const hasEnded = !isDeleted && it.asked.includes('mirror pods');
      const scheduler = lease('kube-scheduler', hasEnded ? NOW : LATER);
      return [lease('kube-controller-manager', LATER), scheduler];
    },
    answers: {
      [`DELETE ${path}`]: () => {
        isDeleted = true;
        return {};
      },
    },
  });
  t.match(await it.run(), { kind: 'done' });
  t.ok(isDeleted);
});

t.test('the Leases of leaders that have ended do not keep the next ones waiting', async (t) => {
  const deleted: string[] = [];
  const path = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
  const old = lease('kube-scheduler', NOW);
  const it = await settling(t, {
    // Its holder is older than every container that runs.
    createdAt: new Date(Date.parse(NOW) + 60_000),
    leases: () =>
      deleted.length === 0
        ? [lease('kube-controller-manager', LATER), old]
        : [lease('kube-controller-manager', LATER), lease('kube-scheduler', LATER)],
    answers: {
      [`DELETE ${path}/kube-scheduler`]: () => {
        deleted.push('kube-scheduler');
        it.asked.push('lease deleted');
        return {};
      },
    },
  });
  t.same(await it.run(), { kind: 'done', note: 'nothing changes any more' });
  t.same(deleted, ['kube-scheduler'], 'and none of one that lives');
  const [first] = it.asked.filter((what) => !['runtime', 'readyz'].includes(what));
  t.equal(first, 'lease deleted', 'before the kubelet is waited for, which takes a minute');
});
