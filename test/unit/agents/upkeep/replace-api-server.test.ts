/** An API server is replaced while a second one answers: in which order, and what is left when it ends. */
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import {
  type ApiServerHost,
  endSurge,
  replaceApiServer,
  whyNoSurge,
} from '../../../../agents/upkeep/rotate/replace-api-server.ts';
import { rendered } from '../../render/rendered-host.ts';
import { cluster } from '../host/cluster.ts';
import { type TestHost, testHost } from '../host/host.ts';
import { fakeRuntime } from '../host/runtime.ts';

const MANIFESTS = '/etc/kubernetes/manifests';
const SURGE = `${MANIFESTS}/kube-apiserver-surge.yaml`;
const FIRST = `${MANIFESTS}/kube-apiserver.yaml`;

const manifest =
  rendered.staticPods.find(({ component }) => component === 'kube-apiserver')?.manifest ?? '';
const pod = { component: 'kube-apiserver', file: 'kube-apiserver.yaml', manifest } as const;

/** Tells what happens to the host, with what is in its folder of static pods then. */
function told(host: TestHost, ready: () => Promise<void> = async () => {}) {
  const story: string[] = [];
  const signals = new Set<AbortSignal>();
  const tell = (what: string) => {
    const first = host.has(FIRST) ? host.read(FIRST) : 'none';
    const placed = first === manifest ? 'new' : first;
    story.push(`${what}: ${placed}${host.has(SURGE) ? ' and a second one' : ''}`);
  };
  const api: ApiServerHost = {
    paths: host.paths,
    cluster,
    // Whoever does not wait for one of them is too early.
    async runNft(rules, signal) {
      signals.add(signal);
      await sleep(50);
      tell(rules.includes('redirect to') ? 'redirected' : 'turned back');
    },
    async ready({ component }, { signal }) {
      signals.add(signal);
      const isPlaced = host.has(SURGE);
      await sleep(50);
      tell(`${component} is waited for${isPlaced ? '' : ' before it is placed'}`);
      await ready();
    },
  };
  return { api, story, signals };
}

t.test('nothing is stopped before the second API server is ready', async (t) => {
  const host = testHost(t);
  host.write(FIRST, 'earlier', 0o600);
  await fakeRuntime(t, host, () => []);
  const { api, story, signals } = told(host);
  const progress = host.progress();
  await replaceApiServer(api, pod, progress);
  t.equal(host.mode(SURGE), 0o600);
  await endSurge(api, progress);
  await endSurge(api, progress);
  t.ok(signals.size === 1 && signals.has(progress.signal), 'all of it can be stopped');
  t.same(story, [
    'kube-apiserver-surge is waited for: earlier and a second one',
    'redirected: earlier and a second one',
    'turned back: new and a second one',
  ]);
  t.notOk(host.has(SURGE));
});

t.test('a second API server that does not become ready changes nothing else', async (t) => {
  const host = testHost(t);
  host.write(FIRST, 'earlier', 0o600);
  const { api, story } = told(host, () => Promise.reject(new Error('it is not ready')));
  await t.rejects(replaceApiServer(api, pod, host.progress()), /it is not ready/);
  t.equal(host.read(FIRST), 'earlier');
  t.same(story, ['kube-apiserver-surge is waited for: earlier and a second one']);
});

t.test('a host needs nft, ::1 and memory for a second one', async (t) => {
  const host = testHost(t);
  const lo = `${'0'.repeat(31)}1 01 80 10 80       lo\n`;
  const memory = (kib: number) => `MemTotal: 9999999 kB\nMemAvailable:    ${kib} kB\n`;
  host.programs.give('nft', 'exit 0');
  const why = async (addresses: string, meminfo: string) => {
    host.write('/proc/net/if_inet6', addresses);
    host.write('/proc/meminfo', meminfo);
    return whyNoSurge(host.paths);
  };
  t.equal(await why(lo, memory(1024 * 1024)), undefined);
  t.match(await why(lo, memory(1024 * 1024 - 1)), /^1024 MiB of memory are available/);
  t.match(await why(lo, ''), /^0 MiB/);
  t.equal(await why(lo.replace('lo', 'eth0'), memory(2 ** 30)), 'the host has no address ::1');
  t.equal(await why('', memory(2 ** 30)), 'the host has no address ::1');
});
