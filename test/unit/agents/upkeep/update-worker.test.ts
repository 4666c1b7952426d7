/** An update of a worker: what is changed on it, when it has settled, and what its control plane forbids. */
import t, { type Test } from 'tap';
import { armUpdate } from '../../../../agents/upkeep/update/arm.ts';
import { concludeUpdate } from '../../../../agents/upkeep/update/conclude.ts';
import { confirmUpdate } from '../../../../agents/upkeep/update/confirm.ts';
import { runUpdate } from '../../../../agents/upkeep/update/main.ts';
import { prepare } from '../../../../agents/upkeep/update/prepare.ts';
import { stageUpdate } from '../../../../agents/upkeep/update/stage.ts';
import { switchOver } from '../../../../agents/upkeep/update/switch.ts';
import { prepareWorkerUpdate } from '../../../../agents/upkeep/update/worker/again.ts';
import { apiObstacles } from '../../../../agents/upkeep/update/worker/obstacles.ts';
import { settleWorker } from '../../../../agents/upkeep/update/worker/settle.ts';
import { updateChange } from '../../../../lib/change/update/request.ts';
import { isWorker } from '../../../../lib/cluster/workers/paths.ts';
import { readTrial } from '../../../../lib/engine/trial/store.ts';
import {
  kubeletEnvironmentPath,
  kubeletEnvironmentText,
} from '../../../../lib/host/kubelet-environment.ts';
import { nodeUnits } from '../../../../units/installed.ts';
import { joinedWorkerUnits } from '../../../../units/worker.ts';
import type { TestHost } from '../host/host.ts';
import { writePayload } from '../host/payload.ts';
import { fakeRuntime } from '../host/runtime.ts';
import { endPauses } from '../host/timers.ts';
import { toldToStop } from './told-to-stop.ts';
import { EXECUTABLE, PAYLOAD, SOURCE, STATE } from './updating-host.ts';
import {
  KUBELET_CONFIG,
  NODE,
  nodeOf,
  running,
  updatingWorker,
  versions,
} from './updating-worker.ts';

t.test('it is replaced without a control plane, and ends like any other update', async (t) => {
  const it = await updatingWorker(t, { kubernetes: 'v1.33.1', etcd: 'v3.5.0' });
  for (const step of [stageUpdate, prepare, armUpdate]) await it.run(step);
  const trial = await readTrial(it.host.paths);
  t.equal(trial?.points.database, undefined, 'a worker has no database to go back to');
  await it.run(switchOver);
  t.same(
    it.host.programs.calls('systemctl').filter((call) => /stop|start .*kubelet/.test(call)),
    ['systemctl stop kubelet.service', 'systemctl stop sno-payload.service'].concat(
      it.host.programs.calls('systemctl start --no-block kubelet'),
    ),
  );
  t.equal(it.host.programs.calls('systemctl start --no-block kubelet').length, 1);
  t.same(it.host.programs.calls('systemctl enable'), [], 'no unit is new');
  t.equal(it.host.read(KUBELET_CONFIG), 'the new configuration');
  t.match(it.host.read(EXECUTABLE), /1\.2\.3/);
  t.equal(it.host.read(`${PAYLOAD}/bin/kubelet`), 'the new kubelet');
  await it.run(confirmUpdate);
  await it.run(concludeUpdate);
  t.match(await updateChange.last(it.host.paths), { outcome: 'updated' });
  t.notOk(it.host.has(`${STATE}/next`));
});

t.test('it waits for an API server that takes the identity of its kubelet', async (t) => {
  const it = await updatingWorker(t);
  it.api.rule(({ path }) => (path === '/readyz' ? { code: 401 } : undefined));
  t.match(await it.run(stageUpdate), { kind: 'not-yet', reason: /readyz returned 401/ });
  t.notOk(it.host.has(`${STATE}/next`), 'nothing is fetched before');
});

/** A pod of kube-proxy, by its DaemonSet, with the image of the payload. */
const proxy = ({
  uid = 'p',
  image = 'r.test/kube-proxy:1',
  ready = 'True',
  restarts = 0,
  name = 'kube-proxy',
  metadata = {},
} = {}) => ({
  metadata: {
    ...{ name: `${name}-x`, namespace: 'kube-system', uid, ...metadata },
    ownerReferences: [{ kind: 'DaemonSet', name }],
  },
  spec: { containers: [{ name, image }] },
  status: {
    conditions: [{ type: 'Ready', status: ready }],
    containerStatuses: [{ name: 'kube-proxy', restartCount: restarts }],
  },
});
const workload = (uid: string) => ({
  metadata: { name: 'shop', namespace: 'kube-system', uid },
  spec: { containers: [{ name: 'kube-proxy', image: 'shop' }] },
});

/** Runs the step settle on a worker that has these pods; it may take `leftMs`. Returns what was deleted. */
async function settling(
  t: Test,
  {
    node = nodeOf(),
    systemctl = running(),
    pods = () => [proxy()],
    leftMs = 300_000,
    refusals = 0,
  }: {
    node?: object | (() => object);
    systemctl?: string;
    pods?: (deleted: number) => readonly object[];
    leftMs?: number;
    /** How often the API server is unable to delete. */
    refusals?: number;
  },
) {
  const it = await updatingWorker(t);
  writePayload(it.host, PAYLOAD, 'the new kubelet', ['kube-proxy']);
  it.host.programs.give('systemctl', systemctl);
  const deleted: string[] = [];
  let refused = 0;
  it.api.rule(({ method, path, query }) => {
    if (method === 'DELETE' && refused++ < refusals) return { code: 500 };
    if (path === NODE) return { code: 200, body: typeof node === 'function' ? node() : node };
    if (!path.startsWith('/api/v1/namespaces/kube-system/pods')) return undefined;
    if (method === 'DELETE') {
      deleted.push(path.split('/').at(-1) ?? '');
      return { code: 200, body: {} };
    }
    if (query.fieldSelector !== 'spec.nodeName=worker-0') return { code: 403 };
    return { code: 200, body: { metadata: { resourceVersion: '1' }, items: pods(deleted.length) } };
  });
  endPauses(t, 5000);
  const outcome = await it.run(settleWorker, leftMs);
  return { outcome, deleted };
}

t.test('it has settled once its kubelet and its add-ons have run for the window', async (t) => {
  const { outcome, deleted } = await settling(t, {});
  t.same(outcome, { kind: 'done', note: 'nothing changes any more' });
  t.same(deleted, [], 'what has the image of the payload stays');
  let replaced = 0;
  await settling(t, { pods: () => [proxy(), workload(`${replaced++}`)] });
  t.ok(replaced > 1, 'a workload that keeps ending does not count');
  await settling(t, { pods: () => [proxy(), proxy({ name: 'of-people', ready: 'False' })] });
});

t.test('add-ons with the image of before are replaced, once the kubelet runs', async (t) => {
  let asked = 0;
  const old = proxy({ image: 'r.test/kube-proxy:0' });
  const { deleted } = await settling(t, {
    node: () => nodeOf(asked++ < 3 ? { kubelet: 'v1.33.1' } : {}),
    pods: (count) => {
      t.ok(asked > 3, 'not before its images can be there');
      return [count === 0 ? old : proxy({ uid: 'new' })];
    },
  });
  t.same(deleted, ['kube-proxy-x']);
});

t.test('an add-on that the API server could not delete is deleted the next time', async (t) => {
  const { outcome, deleted } = await settling(t, {
    pods: (count) => [
      count === 0 ? proxy({ image: 'r.test/kube-proxy:0' }) : proxy({ uid: 'new' }),
    ],
    refusals: 1,
  });
  t.match(outcome, { kind: 'done' });
  t.same(deleted, ['kube-proxy-x']);
});

t.test('an add-on that comes back with the image of before is replaced once', async (t) => {
  const { deleted } = await settling(t, { pods: () => [proxy({ image: 'r.test/kube-proxy:0' })] });
  t.same(deleted, ['kube-proxy-x']);
});

let looks = 0;
const UNSETTLED: readonly (readonly [
  why: string,
  differs: Parameters<typeof settling>[1],
  found: RegExp,
])[] = [
  ['the kubelet of before', { node: nodeOf({ kubelet: 'v1.33.1' }) }, /has the kubelet v1\.33\.1/],
  ['a node that is not Ready', { node: nodeOf({ ready: 'False' }) }, /is not Ready/],
  [
    'Ready by the kubelet of before',
    {
      node: nodeOf({ heartbeat: '2020-01-01T00:00:00Z' }),
      systemctl: running('a', Number(process.hrtime.bigint() / 1_000_000n)),
    },
    /last heartbeat/,
  ],
  [
    'a kubelet that does not run',
    { systemctl: "[ $1 = show ] || exit 0; printf 'ActiveState=activating\\n'" },
    /kubelet\.service is activating/,
  ],
  [
    'a kubelet that starts again and again',
    {
      systemctl: `[ $1 = show ] || exit 0; n=$(cat "$ROOT/n" || echo 0); echo $((n + 1)) > "$ROOT/n"
printf "ActiveState=active\\nInvocationID=$n\\nExecMainStartTimestampMonotonic=1000\\n"`,
    },
    /nothing may change for some time/,
  ],
  [
    'add-ons that are replaced',
    { pods: () => [proxy({ uid: `${looks++}` })] },
    /nothing may change for some time/,
  ],
  [
    'an add-on that starts again and again',
    { pods: () => [proxy({ restarts: looks++ })] },
    /nothing may change for some time/,
  ],
  [
    'an add-on that is ready now and then',
    { pods: () => [proxy({ ready: looks++ % 2 === 0 ? 'True' : 'False' })] },
    /kube-proxy-x is not|nothing may change/,
  ],
  [
    'an add-on without its image',
    { pods: () => [proxy({ ready: 'False' })] },
    /kube-proxy-x is not/,
  ],
  [
    'an add-on that is still ending',
    { pods: () => [proxy({ metadata: { deletionTimestamp: '2030-01-01T00:00:00Z' } })] },
    /kube-proxy-x is not/,
  ],
  ['no answer of the API server', { node: () => ({ kind: 'Node' }) }, /metadata/],
];
for (const [why, differs, found] of UNSETTLED) {
  t.test(`it has not settled: ${why}`, async (t) => {
    await t.rejects(settling(t, { ...differs, leftMs: 1500 }), {
      kind: 'deadline',
      message: new RegExp(`the worker did not settle with the update.*${found.source}`, 's'),
    });
  });
}

const SERVED: readonly (readonly [version: object, found?: RegExp])[] = [
  [{ gitVersion: 'v1.37.2' }],
  [{ gitVersion: 'v1.38.0' }],
  [{ gitVersion: 'no version' }],
  [{ gitVersion: 'v1.36.9' }, /v1\.37\.2 is newer than the API server, which serves as 1\.36/],
  [{ gitVersion: 'v1.37.2', emulationMajor: '1', emulationMinor: '36' }, /which serves as 1\.36/],
];
t.test('its kubelet is never newer than what the API server serves', async (t) => {
  for (const [version, found] of SERVED) {
    const { api, context } = await updatingWorker(t);
    api.rule(({ path }) => (path === '/version' ? { code: 200, body: version } : undefined));
    const next = { kubernetes: 'v1.37.2', etcd: 'v3.7.3' };
    const obstacles = await apiObstacles(context, next, AbortSignal.timeout(60_000));
    const name = JSON.stringify(version);
    if (found === undefined) t.same(obstacles, [], name);
    else t.match(obstacles, [{ found, fix: /control-plane host first/ }], name);
  }
  const { api, context } = await updatingWorker(t);
  api.rule(({ path }) => (path === '/version' ? 'cut' : undefined));
  t.match(await apiObstacles(context, versions, AbortSignal.timeout(60_000)), [
    { found: /the API server cannot be asked/ },
  ]);
  await toldToStop(t, 'nothing is in the way then', async (silent, signal) => {
    api.rule(({ path }) => (path === '/version' ? silent() : undefined));
    await apiObstacles(context, versions, signal);
  });
});

/** The command on a host whose update runs at once, without an end. */
const asked = async (host: TestHost) => {
  let text = '';
  const write = (part: string) => {
    text += part;
  };
  const from = host.at(SOURCE);
  return {
    code: await runUpdate(host.paths, ['run', '--from', from, '--no-wait'], { write }),
    text,
  };
};

t.test('the unit on a worker runs the plan of workers', async (t) => {
  const { host } = await updatingWorker(t);
  t.ok(await isWorker(host.paths));
  let text = '';
  const write = (part: string) => {
    text += part;
  };
  await runUpdate(host.paths, ['plan'], { write });
  t.notMatch(text, /backup|end-emulation|add-ons-back/);
  t.match(text, /settle/);
  t.match(await asked(host), { code: 0, text: /^Continued: the update to sno-agents 1\.2\.3/ });
});

t.test('a new executable changes only what a worker has', async (t) => {
  const { host } = await updatingWorker(t);
  const isEnabled = joinedWorkerUnits.filter(({ enabled }) => enabled);
  const [lost, old] = isEnabled.map(({ name }) => `/etc/systemd/system/${name}`);
  for (const { name, contents } of joinedWorkerUnits) {
    const path = `/etc/systemd/system/${name}`;
    if (path !== lost) host.write(path, path === old ? 'of an earlier release' : contents);
  }
  host.write(EXECUTABLE, 'the new executable');
  const environment = { nodeIps: ['192.0.2.20'], nodeName: 'worker-0' };
  host.write(kubeletEnvironmentPath(host.paths), kubeletEnvironmentText(environment));
  await fakeRuntime(t, host, () => [], {
    Status: () => ({ status: {}, info: {} }),
    RuntimeConfig: () => ({ linux: { cgroupDriver: 'SYSTEMD' } }),
  });
  const parts = { payloadFolder: host.at(`${SOURCE}/payload`), executable: host.at(EXECUTABLE) };
  const prepared = await prepareWorkerUpdate(host.paths, parts, AbortSignal.timeout(60_000));
  const paths = prepared.files.map(({ path }) => path).toSorted();
  t.same(paths, [
    '/etc/cni/net.d/10-sno.conflist',
    KUBELET_CONFIG,
    '/etc/sno-agents/cluster.json',
    '/etc/sno-agents/executable.sha256',
    '/etc/sno-agents/payload.sha256',
    '/etc/sno-agents/pod-egress.nft',
    ...[lost, old].toSorted(),
  ]);
  const kubelet = prepared.files.find(({ path }) => path === KUBELET_CONFIG);
  t.match(kubelet?.contents, /clientCAFile: .*client-ca\.crt/);
  t.notMatch(kubelet?.contents, /staticPodPath/, 'it runs no static pods');
  t.match(
    prepared.files.find(({ path }) => path.includes('/cni/'))?.contents,
    /"10\.128\.3\.0\/24"/,
  );
  t.same(prepared.manifests, []);
  t.same(prepared.enable, [isEnabled[0]?.name]);
  const commands = prepared.links.map(({ path }) => path.split('/').at(-1));
  for (const { name, contents } of joinedWorkerUnits) {
    const [, agent] = /^ExecStart=\S+\/sno-agents ([a-z-]+)/m.exec(contents) ?? [];
    if (agent !== undefined) t.ok(commands.includes(agent), `${agent} of ${name} is a command`);
  }
  let said = '';
  const write = (text: string) => {
    said += text;
  };
  const args = ['--payload', parts.payloadFolder, '--executable', parts.executable];
  t.equal(await runUpdate(host.paths, ['prepare', ...args], { write }), 0);
  t.same(JSON.parse(said), prepared, 'the release before it asks by the command line');
  for (const { path, contents, mode } of prepared.files) {
    if (host.has(path)) host.remove(path);
    host.write(path, contents, mode);
  }
  t.same((await prepareWorkerUpdate(host.paths, parts, AbortSignal.timeout(60_000))).files, []);
  const own = joinedWorkerUnits.map(({ name }) => name);
  t.notOk(own.includes('sno-worker.service'), 'it has joined');
  for (const name of ['sno-backup.timer', 'sno-certificates.service', 'reconfigure.service']) {
    t.ok(nodeUnits.some((unit) => unit.name === name) && !own.includes(name), name);
  }
});
