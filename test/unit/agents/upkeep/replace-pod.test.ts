import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { replacePod } from '../../../../agents/upkeep/rotate/replace-pod.ts';
import { READ_ONCE_ANNOTATION, readOnceOf } from '../../../../lib/render/kubernetes/read-once.ts';
import { stopClock } from '../../clients/kube/stopped-clock.ts';
import { rendered } from '../../render/rendered-host.ts';
import { testHost } from '../host/host.ts';

const LONGEST_GRACE_MS = Math.max(
  ...rendered.staticPods.map(({ manifest }) => {
    const [, seconds] = /terminationGracePeriodSeconds: (\d+)/.exec(manifest) ?? [];
    return Number(seconds) * 1000;
  }),
);
const MANIFEST = '/etc/kubernetes/manifests/kube-apiserver.yaml';
const PODS = '/var/lib/kubelet/pods';
const EARLIER = `${PODS}/5ac3889b9de60a9e0e5d62341eee59b2`;
const STARTED = `${PODS}/ca33076380652eb9de0000000000beef`;
const OTHER = `${PODS}/0f5e899fe78419703eb6e6d68c62728c/containers/etcd/log`;
const LOG = 'containers/kube-apiserver/log';
const next = `metadata:\n  annotations:\n    ${READ_ONCE_ANNOTATION}: new\n`;
const nextPod = {
  component: 'kube-apiserver',
  file: 'kube-apiserver.yaml',
  manifest: next,
} as const;

/** Replaces the pod of a host; returns when the kubelet has been told to stop the earlier one. */
async function replacing(t: Test) {
  const host = testHost(t);
  host.write(MANIFEST, 'earlier', 0o600);
  host.write(`${EARLIER}/${LOG}`);
  host.write(OTHER);
  const replaced = replacePod(host.paths, nextPod, host.progress());
  await host.said(/the earlier pod of kube-apiserver to stop/);
  const placed = host.read(MANIFEST);
  t.equal(readOnceOf(placed), 'new', 'of the present files, should it start');
  t.equal(host.mode(MANIFEST), 0o600);
  return { host, placed, replaced };
}

t.test('the kubelet hears of other pods until it starts one', async (t) => {
  const { host, placed, replaced } = await replacing(t);
  host.remove(EARLIER);
  const manifests = new Set([placed]);
  // The first may come too early for the kubelet; a pod of an API client is not the one.
  host.write(`${PODS}/3fe72290-b9eb-4685-af3b-4a71fb17602a/${LOG}`);
  while (manifests.size < 4) {
    manifests.add(host.read(MANIFEST));
    await sleep(10);
  }
  host.write(`${STARTED}/volumes/any`);
  await replaced;
  for (const manifest of manifests) t.equal(readOnceOf(manifest), 'new');
  t.equal(host.mode(MANIFEST), 0o600);
});

t.test('the earlier pod has its grace period, and the kubelet time to forget it', async (t) => {
  const clock = stopClock(t);
  const { host, placed, replaced } = await replacing(t);
  let stopMs = 0;
  while (host.read(MANIFEST) === placed) stopMs += await clock.wake();
  t.ok(stopMs > LONGEST_GRACE_MS, `${stopMs} ms`);
  const manifests = new Set<string>();
  const ended = replaced.then(() => 'ended');
  do manifests.add(host.read(MANIFEST));
  while ((await Promise.race([ended, clock.wake()])) !== 'ended');
  t.equal(manifests.size, 10, 'whoever waits for the pod says why it does not start');
  t.match(host.read(MANIFEST), /sno-agents\/replaces-pod: '10'/);
});

t.test('a pod that the kubelet has started by itself is not replaced again', async (t) => {
  const { host, placed, replaced } = await replacing(t);
  host.write(`${STARTED}/${LOG}`);
  host.remove(EARLIER);
  await replaced;
  t.equal(host.read(MANIFEST), placed);
});

t.test('nor is one waited for that has not ended when the next one starts', async (t) => {
  const { host, placed, replaced } = await replacing(t);
  host.write(`${STARTED}/${LOG}`);
  await replaced;
  t.equal(host.read(MANIFEST), placed);
  t.ok(host.has(EARLIER));
});

t.test('the manifest of a pod that does not run is placed at once', async (t) => {
  const host = testHost(t);
  host.write(OTHER);
  await replacePod(host.paths, nextPod, host.progress());
  t.equal(host.read(MANIFEST), next);
});
