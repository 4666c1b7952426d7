/** When an update has settled: the control plane of its payload, its add-ons, and a host on which nothing changes. */
import t, { type Test } from 'tap';
import type { UpdateContext } from '../../../../agents/upkeep/update/context.ts';
import { settleUpdate } from '../../../../agents/upkeep/update/settle.ts';
import { sha256 } from '../../../../lib/host/files.ts';
import { components } from '../../../../lib/render/kubernetes/static-pod.ts';
import { type ApiAnswer, listOf, refuse } from '../host/api.ts';
import { fakeRuntime } from '../host/runtime.ts';
import { PAYLOAD, PREPARED, STATE, updating } from './updating-host.ts';

const seconds = (date: Date): string => `${date.toISOString().slice(0, 19)}Z`;
const NOW = seconds(new Date());
const BOOT = new Date(Date.now() - 60_000);
const EARLIER = seconds(new Date(BOOT.getTime() - 60_000));
const id = (component: string) => `sha256:${sha256(component)}`;
const condition = (type: string) => ({ type, status: 'True', lastHeartbeatTime: NOW });

const manifestOf = (component: string, image: string) =>
  `apiVersion: v1\nkind: Pod\nmetadata: {name: ${component}, namespace: kube-system}\nspec: {containers: [{name: ${component}, image: ${image}}]}\n`;

const podOf = (component: string, { image = `r.test/${component}:2`, startedAt = NOW } = {}) => ({
  metadata: { namespace: 'kube-system', name: `${component}-edge-0`, uid: component },
  spec: { nodeName: 'edge-0', containers: [{ image }] },
  status: {
    phase: 'Running',
    conditions: [condition('Ready')],
    containerStatuses: [
      {
        name: component,
        restartCount: 0,
        containerID: component,
        state: { running: { startedAt } },
      },
    ],
  },
});

const lease = (name: string, acquireTime = NOW) => ({
  metadata: { namespace: 'kube-system', name },
  spec: { holderIdentity: 'edge-0_a', leaseDurationSeconds: 3600, acquireTime, renewTime: NOW },
});

const node = {
  metadata: { name: 'edge-0', uid: 'u' },
  status: { conditions: [condition('Ready')] },
};
const apiService = { metadata: { name: 'v1.' }, status: { conditions: [condition('Available')] } };
const none: ApiAnswer = () => listOf();
const unserved: ApiAnswer = () => refuse(404, 'not found', 'NotFound');

/** What is not as a settled host has it. */
interface Differs {
  readonly pods?: () => readonly object[];
  readonly running?: () => readonly { readonly name: string; readonly id: string }[];
  readonly leases?: readonly object[];
  readonly manifests?: readonly object[];
  /** As systemd-logind records it. */
  readonly scheduled?: string;
  readonly answers?: Readonly<Record<string, ApiAnswer>>;
}

async function settling(t: Test, differs: Differs = {}) {
  const {
    pods = () => components.map((component) => podOf(component)),
    running = () => components.map((name) => ({ name, id: id(name) })),
    leases = [lease('kube-controller-manager'), lease('kube-scheduler')],
    manifests = [],
  } = differs;
  const asked: string[] = [];
  const it = await updating(t, {
    settings: { updateWindowMs: 50 },
    answers: {
      'GET /api/v1/namespaces/kube-system/pods': () => {
        asked.push('mirror pods');
        return listOf(...pods());
      },
      'GET /api/v1/nodes': () => {
        asked.push('steady');
        return listOf(node);
      },
      'GET /api/v1/pods': () => listOf(...pods()),
      'GET /apis/coordination.k8s.io/v1/namespaces/kube-system/leases': () => listOf(...leases),
      'GET /apis/apiregistration.k8s.io/v1/apiservices': () => listOf(apiService),
      ...Object.fromEntries(
        ['deployments', 'daemonsets', 'statefulsets'].map((it) => [
          `GET /apis/apps/v1/${it}`,
          none,
        ]),
      ),
      'GET /apis/certificates.k8s.io/v1/certificatesigningrequests': none,
      ...Object.fromEntries(
        ['config', 'machineconfiguration', 'operator', 'tuned'].map((group) => [
          `GET /apis/${group}.openshift.io/v1`,
          unserved,
        ]),
      ),
      'GET /api/v1': () => ({
        resources: [{ name: 'configmaps', kind: 'ConfigMap', namespaced: true, verbs: ['list'] }],
      }),
      'PATCH /api/v1/namespaces/kube-system/configmaps/add-on': ({ body }) => {
        asked.push(`add-on ${JSON.parse(body).data.is}`);
        return {};
      },
      ...differs.answers,
    },
  });
  const payload = JSON.parse(it.host.read(`${PAYLOAD}/payload.yaml`));
  const [first] = payload.images;
  const images = components.map((name) => ({
    ...first,
    ...{ name, reference: `r.test/${name}:2`, id: id(name) },
  }));
  it.host.write(`${PAYLOAD}/payload.yaml`, JSON.stringify({ ...payload, images }));
  for (const name of components) {
    const manifest = manifestOf(name, `r.test/${name}:2`);
    it.host.write(`/etc/kubernetes/manifests/${name}.yaml`, manifest, 0o600);
  }
  it.host.write(`${STATE}/prepared.json`, JSON.stringify({ ...PREPARED, manifests }));
  await fakeRuntime(t, it.host, () => [], {
    ListContainers: () => {
      asked.push('runtime');
      return {
        containers: running().map(({ name, id }) => ({
          id: `id-of-${name}`,
          metadata: { name },
          state: 'CONTAINER_RUNNING',
          imageRef: id,
        })),
      };
    },
  });
  const context: UpdateContext = { ...it.context, bootTime: async () => BOOT };
  if (differs.scheduled !== undefined)
    it.host.write('/run/systemd/shutdown/scheduled', differs.scheduled);
  const run = ({ leftMs = 300_000, signal = AbortSignal.timeout(300_000) } = {}) =>
    settleUpdate.run(context, it.host.progress(signal, leftMs));
  return { ...it, asked, run };
}

t.test(
  'the runtime is asked first, then the add-ons are applied, then nothing changes',
  async (t) => {
    const contents =
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: add-on, namespace: kube-system}\ndata: {is: new}\n';
    const it = await settling(t, { manifests: [{ name: 'add-on.yaml', contents }] });
    t.same(await it.run(), { kind: 'done', note: 'nothing changes any more' });
    t.same([...new Set(it.asked)], ['runtime', 'mirror pods', 'add-on new', 'steady']);
    t.ok(
      await settleUpdate.holds(it.context, it.host.progress()),
      'it is seen in its run, never before',
    );
  },
);

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
  await t.rejects(it.run({ leftMs: 1500 }), {
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
