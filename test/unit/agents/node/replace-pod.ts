import t, { type Test } from 'tap';
import { replacePod } from '../../../../agents/node/rotate/replace-pod.ts';
import { READ_ONCE_ANNOTATION, readOnceOf } from '../../../../lib/render/kubernetes/read-once.ts';
import { testHost } from '../host/host.ts';

const MANIFEST = '/etc/kubernetes/manifests/kube-apiserver.yaml';
const EARLIER = '/var/lib/kubelet/pods/uid-1';
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
  host.write(`${EARLIER}/containers/kube-apiserver/log`);
  host.write('/var/lib/kubelet/pods/uid-2/containers/etcd/log');
  const replaced = replacePod(host.paths, nextPod, host.progress());
  await host.said(/the earlier pod of kube-apiserver to stop/);
  const placed = host.read(MANIFEST);
  t.not(placed, next, 'another pod than the final one');
  t.equal(readOnceOf(placed), 'new', 'of the present files, should it start');
  t.equal(host.mode(MANIFEST), 0o600);
  return { host, placed, replaced };
}

t.test('the kubelet hears of the final pod when it has released the earlier one', async (t) => {
  const { host, replaced } = await replacing(t);
  host.remove(EARLIER);
  await replaced;
  t.equal(host.read(MANIFEST), next);
  t.equal(host.mode(MANIFEST), 0o600);
});

t.test('a pod that the kubelet has started by itself is not replaced again', async (t) => {
  const { host, placed, replaced } = await replacing(t);
  host.write('/var/lib/kubelet/pods/uid-3/containers/kube-apiserver/log');
  host.remove(EARLIER);
  await replaced;
  t.equal(host.read(MANIFEST), placed);
});

t.test('the manifest of a pod that does not run is placed at once', async (t) => {
  const host = testHost(t);
  host.write('/var/lib/kubelet/pods/uid-2/containers/etcd/log');
  await replacePod(host.paths, nextPod, host.progress());
  t.equal(host.read(MANIFEST), next);
});
