/** Static pods that are started anew with the present files: in which order, and when one counts as ready. */
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { syncBuiltinESMExports } from 'node:module';
import { mock } from 'node:test';
import timers, { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { podReady } from '../../../../agents/upkeep/rotate/pod-ready.ts';
import { startStalePods } from '../../../../agents/upkeep/rotate/pods.ts';
import { whyUnready } from '../../../../agents/upkeep/rotate/readiness-probe.ts';
import { issueLeaf } from '../../../../lab/certificates/signed-now.ts';
import { etcdTrust } from '../../../../lib/render/kubernetes/etcd.ts';
import { apiServerTrust } from '../../../../lib/render/kubernetes/kube-apiserver.ts';
import { READ_ONCE_ANNOTATION, readOnceOf } from '../../../../lib/render/kubernetes/read-once.ts';
import { listening } from '../../clients/kube/listening.ts';
import { servingPair } from '../../render/rendered-host.ts';
import { testHost } from '../host/host.ts';
import { fakeRuntime } from '../host/runtime.ts';
import { manifestOf, requested } from './rotating-host.ts';

/** Starts stale pods, and tells what nft is given and what is restarted, with the files that etcd was run with. */
async function starting(t: Test, rotatePodMs = 1, hasNft = true) {
  const { host, context, kubelet } = await requested(t, { rotatePodMs });
  if (hasNft) host.programs.give('nft', 'exit 0');
  // Without the programs of the machine.
  else process.env.PATH = process.env.PATH?.split(':').slice(0, 2).join(':');
  const before = readOnceOf(host.read(manifestOf('etcd')));
  const story: string[] = [];
  const tell = (what: string) => {
    const isFresh = readOnceOf(host.read(manifestOf('etcd'))) !== before;
    story.push(`${what}, ${isFresh ? 'new' : 'old'} etcd`);
  };
  const runNft = async (rules: string, signal: AbortSignal) => {
    // Whoever does not wait for it is too early.
    await sleep(50, undefined, { signal });
    const isReset = rules.includes('reject with tcp reset');
    if (isReset) {
      t.match(rules, /\{ 6443 timeout 60s \}/, 'the kernel ends it, if nobody else does');
      t.match(rules, /ip daddr 127\.0\.0\.0\/8 tcp/, 'only connections to this host');
    }
    tell(isReset ? 'reset' : 'no reset');
  };
  const restarts = async (name: string) => tell(name);
  const start = (signal?: AbortSignal) =>
    startStalePods({ ...context, runNft }, restarts, host.progress(signal));
  return { host, kubelet, story, start };
}

t.test(
  'etcd first, without requests that wait for it; what reads the files again stays',
  async (t) => {
    const { host, story, start } = await starting(t);
    const scheduler = host.read(manifestOf('kube-scheduler'));
    await start();
    story.length = 0;
    for (const path of [etcdTrust, apiServerTrust.etcd]) host.write(path, 'new authorities');
    await start();
    t.same(story, [
      'etcd, old etcd',
      'reset, old etcd',
      'no reset, new etcd',
      'kube-apiserver, new etcd',
    ]);
    t.match(host.lines.join(''), /Nothing answers while the API server restarts: /);
    t.equal(readOnceOf(host.read(manifestOf('kube-scheduler'))), readOnceOf(scheduler) ?? t.fail());
    story.length = 0;
    await start();
    t.same(story, [], 'once');
  },
);

t.test('without nft, etcd is replaced all the same', async (t) => {
  const { host, story, start } = await starting(t, 1, false);
  for (const path of [etcdTrust, apiServerTrust.etcd]) host.write(path, 'new authorities');
  await start();
  t.same(story, ['etcd, old etcd', 'kube-apiserver, new etcd']);
  t.match(host.lines.join(''), /API server restarts: nft is not installed/);
});

t.test('where the host can run a second API server, nothing is stopped before it', async (t) => {
  const { host, start } = await starting(t);
  await start();
  host.write('/proc/net/if_inet6', `${'0'.repeat(31)}1 01 80 10 80       lo\n`);
  host.write('/proc/meminfo', 'MemAvailable: 9999999 kB\n');
  host.write(apiServerTrust.etcd, 'new authorities');
  const first = host.read(manifestOf('kube-apiserver'));
  // Its probe is at a port of this test.
  await t.rejects(start(), { message: /no second API server can be made of the manifest/ });
  t.equal(host.read(manifestOf('kube-apiserver')), first);
});

t.test('the reset ends also where etcd does not become ready', async (t) => {
  const { host, kubelet, story, start } = await starting(t);
  await start();
  story.length = 0;
  host.write(etcdTrust, 'new authorities');
  Object.assign(kubelet, { isReady: false, program: 'etcd' });
  await t.rejects(start(), { kind: 'deadline', message: /etcd is not ready.*returned 500/ });
  t.same(story, ['etcd, old etcd', 'reset, old etcd', 'no reset, new etcd']);
});

t.test('the reset ends also where the agent is told to stop', async (t) => {
  const { host, kubelet, story, start } = await starting(t, 60_000);
  await start();
  story.length = 0;
  host.write(etcdTrust, 'new authorities');
  Object.assign(kubelet, { isReady: false, program: 'etcd' });
  const stop = new AbortController();
  const stopped = t.rejects(start(stop.signal), { message: 'told to stop' });
  await host.said(/Waiting for etcd to be ready: .*returned 500/);
  // Time enough for whoever does not wait.
  await sleep(200);
  t.same(story, ['etcd, old etcd', 'reset, old etcd'], 'connections are reset until it is ready');
  stop.abort(new Error('told to stop'));
  await stopped;
  t.same(story, ['etcd, old etcd', 'reset, old etcd', 'no reset, new etcd']);
});

t.test('a second API server that was left ends once the first one is ready', async (t) => {
  const { host, kubelet, story, start } = await starting(t);
  const second = '/etc/kubernetes/manifests/kube-apiserver-surge.yaml';
  await start();
  story.length = 0;
  host.write(second, 'left by a killed agent');
  Object.assign(kubelet, { isReady: false, program: 'kube-apiserver' });
  await t.rejects(start(), { kind: 'deadline', message: /kube-apiserver is not ready/ });
  t.same(story, [], 'until then, it is the one that answers');
  t.ok(host.has(second));
  kubelet.isReady = true;
  await start();
  t.same(story, ['no reset, old etcd'], 'connections are turned back');
  t.notOk(host.has(second));
});

t.test('a kubelet that has just started takes over the running pods first', async (t) => {
  for (const [activeMs, waits] of [
    [19_500, true],
    [20_500, false],
  ] as const) {
    const { host, start } = await starting(t);
    // From when it is asked, however long it takes until then; /proc/uptime has hundredths of a second.
    const now = 'now=$(cut -d " " -f 1 /proc/uptime | tr -d .)';
    const since = `$((now * 10000 - ${activeMs * 1000}))`;
    host.programs.give('systemctl', `${now}\necho ActiveEnterTimestampMonotonic=${since}`);
    host.write(etcdTrust, 'new authorities');
    const pauses = mock.method(timers, 'setTimeout');
    syncBuiltinESMExports();
    await start().finally(() => pauses.mock.restore());
    syncBuiltinESMExports();
    const lengths = pauses.mock.calls.map((call) => Number(call.arguments[0]));
    // Longer ones are deadlines.
    const slept = lengths.filter((ms) => 1000 < ms && ms <= 20_000);
    t.same(slept, [], 'no more than the rest of the time');
    const said = host.lines.filter((line) => /kubelet to take over the running pods/.test(line));
    t.equal(said.length > 0, waits, `${activeMs} ms`);
    const asked = 'systemctl show kubelet.service --property=ActiveEnterTimestampMonotonic';
    t.same(host.programs.calls('systemctl'), [asked]);
  }
});

const serve = async (t: Test, listener: RequestListener) => listening(t, createServer(listener));
const manifestFor = (port: number, more: object = {}, timeoutSeconds?: number) =>
  JSON.stringify({
    metadata: { annotations: { [READ_ONCE_ANNOTATION]: 'present' } },
    spec: {
      containers: [
        {
          readinessProbe: {
            ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }),
            httpGet: { host: '127.0.0.1', port, path: '/readyz', scheme: 'HTTP', ...more },
          },
        },
      ],
    },
  });
const signal = () => AbortSignal.timeout(60_000);

t.test('a program is ready by the answer that the kubelet would take', async (t) => {
  const seen: (string | undefined)[] = [];
  let code = 200;
  const answer: RequestListener = ({ url, socket }, response) => {
    seen.push(`${url} from ${socket.remoteAddress}`);
    response.writeHead(code).end();
  };
  const port = await serve(t, answer);
  for (code of [200, 399]) t.equal(await whyUnready(manifestFor(port), signal()), undefined);
  for (code of [400, 500]) {
    t.equal(await whyUnready(manifestFor(port), signal()), `/readyz returned ${code}`);
  }
  t.same(new Set(seen), new Set(['/readyz from 127.0.0.2']), 'never redirected');
  code = 200;
  const subject = { commonName: 'of another name' };
  const { certificate: cert, key } = await issueLeaf(servingPair, { subject, usage: 'server' });
  const secure = await listening(t, createTlsServer({ cert, key }, answer));
  t.equal(await whyUnready(manifestFor(secure, { scheme: 'HTTPS' }), signal()), undefined);
  t.match(await whyUnready(manifestFor(secure), signal()), /./, 'not in plain text');
});

t.test('a program that does not answer is not ready', async (t) => {
  const port = await serve(t, () => {});
  const began = performance.now();
  t.match(await whyUnready(manifestFor(port, {}, 2), signal()), /longer than it may/);
  t.ok(performance.now() - began >= 1900, 'not before its own deadline');
  t.match(
    await whyUnready(manifestFor(port), signal()),
    /longer than it may/,
    'a second by default',
  );
  t.match(await whyUnready(manifestFor(1), signal()), /ECONNREFUSED/);
  const stop = new AbortController();
  const asked = whyUnready(manifestFor(port, {}, 60), stop.signal);
  stop.abort(new Error('told to stop'));
  await t.rejects(asked, { message: 'told to stop' });
  await t.rejects(whyUnready('kind: Pod\n', signal()));
});

t.test('a pod is ready once the container of its present manifest runs', async (t) => {
  const port = await serve(t, (_, response) => void response.end());
  const sandbox = (more: object = {}) => ({
    ...{ id: 'new', metadata: { name: 'etcd' }, state: 'SANDBOX_READY' },
    ...{ annotations: { [READ_ONCE_ANNOTATION]: 'present' }, ...more },
  });
  const container = (more: object = {}) => ({ name: 'etcd', sandbox: 'new', ...more });
  const table: [what: string, items: object[], containers: object[], isReady: boolean][] = [
    ['it runs', [sandbox({ id: 'old', annotations: {} }), sandbox()], [container()], true],
    ['beside another', [sandbox()], [container({ name: 'x' }), container()], true],
    ['no sandbox', [], [container()], false],
    ['of earlier files', [sandbox({ annotations: {} })], [container()], false],
    ['that has ended', [sandbox({ state: 'SANDBOX_NOTREADY' })], [container()], false],
    ['another container', [sandbox()], [container({ name: 'x' })], false],
    ['of another sandbox', [sandbox()], [container({ sandbox: 'old' })], false],
    ['not running', [sandbox()], [container({ state: 'exited' })], false],
  ];
  for (const [what, items, containers, isReady] of table) {
    const host = testHost(t, { settings: { rotatePodMs: 1 } });
    const found = () => containers.map((each) => ({ name: '', ...each }));
    await fakeRuntime(t, host, found, { ListPodSandbox: () => ({ items }) });
    const pod = { component: 'etcd', manifest: manifestFor(port) };
    const ready = podReady(host.context, pod, host.progress());
    if (isReady) await t.resolves(ready, what);
    else {
      await t.rejects(ready, {
        kind: 'deadline',
        message: /^etcd is not ready after 0 s; found the kubelet has not started the pod/,
        details: { subject: 'etcd' },
      });
    }
  }
});

t.test(
  'a pod that becomes ready is waited for, and a runtime that fails is asked again',
  async (t) => {
    const port = await serve(t, (_, response) => void response.end());
    const host = testHost(t, { settings: { rotatePodMs: 60_000 } });
    let asked = 0;
    await fakeRuntime(t, host, () => [{ name: 'etcd', sandbox: 'new' }], {
      ListPodSandbox: () => {
        asked += 1;
        if (asked === 1) throw new Error('the runtime starts');
        const annotations = { [READ_ONCE_ANNOTATION]: 'present' };
        const metadata = { name: 'etcd' };
        return { items: [{ id: 'new', metadata, state: 'SANDBOX_READY', annotations }] };
      },
    });
    await podReady(
      host.context,
      { component: 'etcd', manifest: manifestFor(port) },
      host.progress(),
    );
    t.equal(asked, 2);
    t.match(host.lines.join(''), /Waiting for etcd to be ready: .*the runtime starts/);
    const stop = new AbortController();
    stop.abort(new Error('told to stop'));
    const pod = { component: 'kube-scheduler', manifest: manifestFor(port) };
    await t.rejects(podReady(host.context, pod, host.progress(stop.signal)), /told to stop/);
  },
);
