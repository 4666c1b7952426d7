/** What a new executable changes on a host, as it computes it there, and what proves that it is in use. */
import { basename } from 'node:path';
import t, { type Test } from 'tap';
import { prepareUpdate } from '../../../../agents/upkeep/update/again.ts';
import { runUpdate } from '../../../../agents/upkeep/update/main.ts';
import { otherPrograms } from '../../../../agents/upkeep/update/mirror-pods.ts';
import { runsImages } from '../../../../agents/upkeep/update/settle.ts';
import { addressEvents } from '../../../../lib/change/identity/address-events.ts';
import { sha256 } from '../../../../lib/host/files.ts';
import { saveRenderInput } from '../../../../lib/render/render-input.ts';
import { nodeUnits } from '../../../../units/installed.ts';
import { input, rendered } from '../../render/rendered-host.ts';
import { cluster } from '../host/cluster.ts';
import { type TestHost, testHost } from '../host/host.ts';
import { writePayload } from '../host/payload.ts';

const EXECUTABLE = '/var/lib/sno-agents/bin/sno-agents';
const SOURCE = '/mnt/update/payload';

/** The host of the rendered control plane, as its installation left it. */
async function installedHost(t: Test): Promise<TestHost> {
  const host = testHost(t);
  for (const { path, contents, mode, uses } of rendered.files) {
    if (uses.includes('control-plane') || uses.includes('node')) host.write(path, contents, mode);
  }
  for (const { component, manifest } of rendered.staticPods) {
    const file = component === 'etcd' ? 'etcd-pod' : component;
    host.write(`/etc/kubernetes/manifests/${file}.yaml`, manifest, 0o600);
  }
  for (const { name, contents } of nodeUnits) host.write(`/etc/systemd/system/${name}`, contents);
  host.write(addressEvents.path, addressEvents.contents, addressEvents.mode);
  const { installation: _, ...description } = cluster;
  host.write('/etc/sno-agents/cluster.json', JSON.stringify(description), 0o600);
  const { authorities: __, ...keyless } = input;
  await saveRenderInput(host.paths, keyless);
  host.write(EXECUTABLE, 'the new executable');
  return host;
}

/** A payload whose images are those of the rendered host, but for one. */
function otherImage(
  host: TestHost,
  component: string,
  images: Readonly<Record<string, string>> = input.host.images,
): string {
  writePayload(host, SOURCE);
  const payload = JSON.parse(host.read(`${SOURCE}/payload.yaml`));
  const [first] = payload.images;
  payload.images = Object.entries(images).map(([name, reference]) => ({
    ...first,
    name,
    reference: name === component ? 'example.test/new:2' : reference,
  }));
  host.write(`${SOURCE}/payload.yaml`, JSON.stringify(payload));
  return SOURCE;
}

const prepareOn = (host: TestHost, payloadFolder: string) =>
  prepareUpdate(
    host.paths,
    { payloadFolder: host.at(payloadFolder), executable: host.at(EXECUTABLE) },
    AbortSignal.timeout(60_000),
  );

t.test('a new executable changes only what differs on this host', async (t) => {
  const host = await installedHost(t);
  const prepared = await prepareOn(host, otherImage(host, 'etcd'));
  const { files, enable, manifests } = prepared;
  t.same(Object.fromEntries(files.map(({ path, mode }) => [path, mode])), {
    '/etc/kubernetes/manifests/etcd-pod.yaml': 0o600,
    '/etc/sno-agents/cluster.json': 0o600,
    '/etc/sno-agents/executable.sha256': 0o644,
    '/etc/sno-agents/payload.sha256': 0o644,
    '/etc/sno-agents/render-input.json': 0o600,
  });
  t.match(
    files.find(({ path }) => path.endsWith('etcd-pod.yaml')),
    {
      contents: /example\.test\/new:2/,
      mode: 0o600,
    },
  );
  t.match(
    files.find(({ path }) => path.endsWith('executable.sha256')),
    {
      contents: `${sha256('the new executable')}  ${EXECUTABLE}\n`,
    },
  );
  t.same([enable, manifests], [[], []]);

  let said = '';
  const write = (text: string) => {
    said += text;
  };
  const parts = ['--payload', host.at(SOURCE), '--executable', host.at(EXECUTABLE)];
  t.equal(await runUpdate(host.paths, ['prepare', ...parts], { write }), 0);
  t.same(JSON.parse(said), prepared, 'the release before it asks by the command line');
});

t.test('a manifest that the host has lost is put back for root alone', async (t) => {
  const host = await installedHost(t);
  const path = '/etc/kubernetes/manifests/kube-scheduler.yaml';
  host.remove(path);
  const { files } = await prepareOn(host, otherImage(host, 'etcd'));
  t.match(
    files.find((file) => file.path === path),
    { mode: 0o600 },
  );
});

t.test('an add-on whose image changes is brought up to date, and no other', async (t) => {
  const host = await installedHost(t);
  const { authorities: _, ...keyless } = input;
  const images = {
    ...keyless.host.images,
    coredns: 'r.test/coredns:1',
    'kube-proxy': 'r.test/p:1',
  };
  const present = { ...keyless, host: { ...keyless.host, images } };
  await saveRenderInput(host.paths, present);
  otherImage(host, 'coredns', images);
  const { manifests } = await prepareOn(host, SOURCE);
  t.same(
    manifests.map(({ name }) => name),
    ['20-coredns.yaml'],
  );
  t.match(manifests[0]?.contents, /image: "?example\.test\/new:2/);
  otherImage(host, 'etcd', images);
  t.same((await prepareOn(host, SOURCE)).manifests, []);
  await saveRenderInput(host.paths, keyless);
  t.same(
    (await prepareOn(host, SOURCE)).manifests.map(({ name }) => name).toSorted(),
    ['20-coredns.yaml', '20-kube-proxy.yaml'],
    'one that the host does not have yet is new',
  );
});

t.test(
  'what an earlier release rendered otherwise is replaced, links and cluster.json too',
  async (t) => {
    const host = await installedHost(t);
    const kubelet = '/etc/kubernetes/kubelet.yaml';
    const rendered = host.read(kubelet);
    host.remove(kubelet);
    host.write(kubelet, 'rendered by an earlier release', 0o640);
    const described = JSON.parse(host.read('/etc/sno-agents/cluster.json'));
    const follows = JSON.stringify({ ...described, onAddressChange: 'follow' });
    host.write('/etc/sno-agents/cluster.json', follows);
    const { files, links } = await prepareOn(host, otherImage(host, 'etcd'));
    t.match(
      files.find(({ path }) => path === kubelet),
      { contents: rendered, mode: 0o640 },
    );
    const cluster = files.find(({ path }) => path.endsWith('/cluster.json'))?.contents ?? '';
    t.match(JSON.parse(cluster), {
      onAddressChange: 'follow',
      executableSha256: sha256('the new executable'),
      payloadSha256: sha256(host.read(`${SOURCE}/payload.yaml`)),
    });
    const names = links.map(({ path }) => basename(path));
    for (const name of ['sno-update', 'gather', 'verify-clean']) t.ok(names.includes(name), name);
    for (const { path, target } of links) host.write(path, target);
    t.same((await prepareOn(host, SOURCE)).links, [], 'those that are there stay');
  },
);

t.test('a unit that the host does not have is enabled', async (t) => {
  const host = await installedHost(t);
  host.remove('/etc/systemd/system/sno-trial.timer');
  host.remove('/etc/systemd/system/sno-renew.timer');
  host.write('/etc/systemd/system/sno-renew.timer', 'an older one', 0o600);
  host.remove(addressEvents.path);
  const started = nodeUnits.find(({ enabled }) => !enabled);
  host.remove(`/etc/systemd/system/${started?.name}`);
  const { files, enable } = await prepareOn(host, otherImage(host, 'etcd'));
  t.same(enable, ['sno-trial.timer']);
  t.match(
    files.find(({ path }) => path.endsWith('sno-trial.timer')),
    { mode: 0o644 },
  );
  t.match(
    files.find(({ path }) => path.endsWith('sno-renew.timer')),
    { mode: 0o600 },
    'its mode stays',
  );
  t.match(
    files.find(({ path }) => path === addressEvents.path),
    { contents: addressEvents.contents, mode: 0o755 },
  );
});

t.test('a host of an earlier release, which kept no input, is refused', async (t) => {
  const host = await installedHost(t);
  host.remove('/etc/sno-agents/render-input.json');
  await t.rejects(prepareOn(host, otherImage(host, 'etcd')), {
    kind: 'usage',
    code: 'update-refused',
  });
});

t.test('the control plane has to run the images of the payload, and no others', async (t) => {
  const id = (letter: string) => `sha256:${letter.repeat(64)}`;
  const names = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'];
  const images = names.map((name) => ({
    ...{ name, reference: `r.test/${name}:1`, id: id('a'), archive: 'x', size: 1, sha256: 'x' },
  }));
  const running = names.map((name) => ({ name, state: 'running', imageRef: id('a') }) as const);
  t.ok(runsImages(running, { images }));
  t.ok(runsImages([...running, { name: 'etcd', state: 'exited', imageRef: id('b') }], { images }));
  t.notOk(
    runsImages([...running, { name: 'etcd', state: 'running', imageRef: id('b') }], { images }),
  );
  t.notOk(runsImages(running.slice(1), { images }));
  t.notOk(runsImages(running, { images: images.slice(1) }));
});

t.test('the mirror pods say which manifests run', async (t) => {
  const pod = (name: string, image: string, command: string[] = [name]) => ({
    metadata: { name: `${name}-n1` },
    spec: { containers: [{ image, command }] },
  });
  const wanted = new Map([
    ['etcd-n1', { image: 'r.test/etcd:2', command: ['etcd'] }],
    ['kube-scheduler-n1', { image: 'r.test/kube-scheduler:2', command: ['kube-scheduler'] }],
  ]);
  const etcd = pod('etcd', 'r.test/etcd:2');
  const scheduler = (...more: string[]) =>
    pod('kube-scheduler', 'r.test/kube-scheduler:2', ['kube-scheduler', ...more]);
  t.same(otherPrograms([etcd, scheduler(), pod('coredns', 'r.test/coredns:1')], wanted), []);
  const earlier = pod('kube-scheduler', 'r.test/kube-scheduler:1');
  t.same(otherPrograms([etcd, earlier], wanted), [
    'kube-scheduler-n1 runs r.test/kube-scheduler:1',
  ]);
  t.same(otherPrograms([scheduler()], wanted), ['no pod etcd-n1']);
  t.same(otherPrograms([etcd, scheduler('--emulated-version=kube=1.34')], wanted), [
    'kube-scheduler-n1 runs with --emulated-version=kube=1.34',
  ]);
  t.same(otherPrograms([pod('etcd', 'r.test/etcd:2', []), scheduler()], wanted), [
    'etcd-n1 runs without etcd',
  ]);
});

/** The same with other versions of Kubernetes: `emulates` is what the host does until now. */
async function otherMinor(t: Test, next: string, emulates?: string) {
  const host = await installedHost(t);
  if (emulates !== undefined) {
    const { authorities: _, ...keyless } = input;
    await saveRenderInput(host.paths, { ...keyless, host: { ...keyless.host, emulates } });
  }
  otherImage(host, 'etcd');
  const payload = JSON.parse(host.read(`${SOURCE}/payload.yaml`));
  payload.versions = { ...payload.versions, kubernetes: next };
  host.write(`${SOURCE}/payload.yaml`, JSON.stringify(payload));
  return { host, prepared: await prepareOn(host, SOURCE) };
}

const FLAG = '--emulated-version=kube=1.34';
const names = (files: readonly { path: string }[] = []) => files.map(({ path }) => basename(path));
const LEADERS = ['kube-apiserver.yaml', 'kube-controller-manager.yaml', 'kube-scheduler.yaml'];

t.test('another minor version emulates the earlier one, and is prepared to end that', async (t) => {
  const { prepared } = await otherMinor(t, 'v1.35.4');
  const { emulation, files } = prepared;
  t.equal(emulation?.version, '1.34');
  t.same(names(emulation?.during), [...LEADERS, 'render-input.json'], 'the API server first');
  t.same(names(emulation?.after), names(emulation?.during));
  for (const { path, contents } of emulation?.during ?? []) {
    t.match(contents, path.endsWith('.json') ? '"emulates":"1.34"' : FLAG, path);
    t.equal(files.find((file) => file.path === path)?.contents, contents, 'it is switched to');
  }
  for (const { path, contents } of emulation?.after ?? []) t.notMatch(contents, /emulate/, path);
  t.notMatch(files.find(({ path }) => path.endsWith('etcd-pod.yaml'))?.contents, /emulated/);
});

t.test('an emulation that has not ended goes on with a patch release', async (t) => {
  const { prepared } = await otherMinor(t, 'v1.34.9', '1.33');
  t.equal(prepared.emulation?.version, '1.33');
  t.match(prepared.emulation?.during[0]?.contents, '--emulated-version=kube=1.33');
});

t.test('a patch release emulates nothing', async (t) => {
  const { prepared } = await otherMinor(t, 'v1.34.9');
  t.equal(prepared.emulation, undefined);
  t.notMatch(JSON.stringify(prepared.files), /emulate/);
});

t.test('a host of a release that did not keep what it was rendered from', async (t) => {
  const host = await installedHost(t);
  host.remove('/etc/sno-agents/render-input.json');
  await t.rejects(prepareOn(host, otherImage(host, 'etcd')), {
    ...{ kind: 'usage', code: 'update-refused' },
    message: /expected \/etc\/sno-agents\/render-input\.json; found none/,
  });
});
