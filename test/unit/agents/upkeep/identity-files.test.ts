/** The steps of a change of the identity that write keys and files, on a host whose control plane is held. */
import t from 'tap';
import { placeIdentity } from '../../../../agents/steps/kubelet-client-file.ts';
import { issueIdentity } from '../../../../agents/steps/kubelet-identity.ts';
import { withPresentFiles } from '../../../../agents/steps/read-once.ts';
import { identityFiles } from '../../../../agents/upkeep/identity/files.ts';
import { startRenamed } from '../../../../agents/upkeep/identity/start.ts';
import { isHeld } from '../../../../lib/change/identity/held.ts';
import { certificatesIn, inspectCertificate, isIssuedBy } from '../../../../lib/pki/certificate.ts';
import { publicKeyFingerprint } from '../../../../lib/pki/keys.ts';
import { apiServerPod } from '../../../../lib/render/kubernetes/kube-apiserver.ts';
import { kubeletPaths } from '../../../../lib/render/kubernetes/kubelet.ts';
import { readRenderInput } from '../../../../lib/render/render-input.ts';
import { killedAtAnyMoment } from '../../engine/steps/killed-at-any-moment.ts';
import { rendered, servingPair, textAt } from '../../render/rendered-host.ts';
import { COMPONENTS } from '../backup/backup-host.ts';
import type { TestHost } from '../host/host.ts';
import { KUBELET_ACTIVE } from '../host/kubelet-unit.ts';
import {
  cross,
  DROP_IN,
  ENVIRONMENT,
  fileOf,
  heldHosts,
  heldPod,
  kubeletFiles,
  pod,
  proxy,
  serving,
} from './held-host.ts';
import { toldToStop } from './told-to-stop.ts';

/** Whether a pod is placed as it is for the identity of the host, and for the files that it reads once. */
async function isFresh(host: TestHost, component: (typeof COMPONENTS)[number]): Promise<boolean> {
  const path = pod(fileOf(component));
  const present = await readRenderInput(host.paths);
  const before = rendered.staticPods.find((each) => each.component === component);
  const { manifest } =
    component === 'kube-apiserver' && present !== undefined
      ? apiServerPod(present)
      : (before ?? {});
  if (!host.has(path) || manifest === undefined) return false;
  return host.read(path) === (await withPresentFiles(host.paths, { component, manifest }));
}

/** Everything that depends on the identity: what it says, and the modes. */
async function identityOn(host: TestHost) {
  const { paths } = host;
  const served = host.read(serving.certificate);
  const [, ...others] = certificatesIn(served);
  const { dnsNames, ipAddresses } = inspectCertificate(served);
  const kubelet = host.has(kubeletPaths.clientPair) ? host.read(kubeletPaths.clientPair) : '';
  const present = await readRenderInput(paths);
  const modes = [
    ...[serving.certificate, serving.key, ENVIRONMENT, '/etc/sno-agents/cluster.json'],
    ...['/etc/sno-agents/render-input.json', '/etc/sno-agents/proxy.env', pod('kube-apiserver')],
  ];
  return {
    names: [dnsNames.includes('edge-9'), dnsNames.includes('api.shop.example.org')],
    addresses: ipAddresses.filter((address) => address.startsWith('1')),
    isIssued: await isIssuedBy(served, servingPair.certificate),
    isPair: publicKeyFingerprint(served) === publicKeyFingerprint(host.read(serving.key)),
    others,
    isWhole: served === certificatesIn(served).join(''),
    kubelet: kubelet === '' ? '' : inspectCertificate(kubelet).subject,
    kubeletFiles: (await kubeletFiles(host)).length,
    environment: host.read(ENVIRONMENT),
    hostname: host.read('/etc/hostname'),
    cluster: JSON.parse(host.read('/etc/sno-agents/cluster.json')),
    proxy: host.has('/etc/sno-agents/proxy.env') && host.read('/etc/sno-agents/proxy.env'),
    input: present,
    pods: await Promise.all(COMPONENTS.map((name) => isFresh(host, name))),
    modes: modes.map((path) => host.has(path) && host.mode(path).toString(8)),
  };
}

/** What is expected on a host that was in the network of the factory, with its proxy. */
const expected = {
  names: [true, true],
  addresses: ['127.0.0.1', '198.51.100.7', '172.30.0.1'],
  isIssued: true,
  isPair: true,
  isWhole: true,
  others: [...certificatesIn(textAt(serving.certificate)).slice(1), cross.certificate],
  kubelet: { commonName: 'system:node:edge-9', organizations: ['system:nodes'] },
  kubeletFiles: 2,
  environment: 'KUBELET_NODE_IPS=198.51.100.7\n',
  hostname: 'set-hostname edge-9\n',
  pods: [true, true, false, false],
  modes: ['644', '600', '644', '600', '600', false, '600'],
};

t.test(
  'files: all of them are those of the new identity, and the API server is ready',
  async (t) => {
    const { held, seen } = await heldHosts(t);
    const { host, run, holds } = await held({ isSlow: true });
    t.equal(await holds(identityFiles), false);
    t.match(await run(identityFiles), { kind: 'done', note: 'edge-9, 198.51.100.7' });
    const found = await identityOn(host);
    t.match(found, { ...expected, proxy: false, cluster: { name: 'shop' } });
    t.same([found.others, found.addresses], [expected.others, expected.addresses], 'no more');
    t.equal(host.read('/run/served-at-start'), host.read(serving.certificate), 'nothing old');
    t.equal(host.read('/run/placed-at-stop'), 'other.yaml\n', 'no kubelet of the old name sees it');
    t.same(seen.asked.splice(0), ['running, saved: false'], 'ready before the input is saved');
    t.same(host.programs.calls(), [
      'hostnamectl set-hostname edge-9',
      'systemctl stop kubelet.service',
      'systemctl restart kubelet.service',
    ]);
    t.equal(await holds(identityFiles), true);
    const before = host.read(kubeletPaths.clientPair);
    await run(identityFiles);
    t.equal(host.read(kubeletPaths.clientPair), before, 'the identity of the Node stays');
    host.remove(KUBELET_ACTIVE);
    t.equal(await holds(identityFiles), false, 'an API server that does not run');
    host.write(KUBELET_ACTIVE);
    t.equal(await holds(identityFiles), true);
    host.remove('/etc/sno-agents/render-input.json');
    t.equal(await holds(identityFiles), false, 'nothing to render from');
  },
);

t.test('files: the kubelet does not keep the identity of the old Node', async (t) => {
  const { held } = await heldHosts(t);
  const { host, context, run } = await held();
  const old = { ...context, hostname: () => 'edge-0' };
  await placeIdentity(host.paths, await issueIdentity(old));
  await run(identityFiles);
  const { subject } = inspectCertificate(host.read(kubeletPaths.clientPair));
  t.equal(subject.commonName, 'system:node:edge-9');
});

t.test('files: what cannot be written or started is not passed over', async (t) => {
  const { held } = await heldHosts(t);
  const inTheWay = [
    ...['/etc/sno-agents/cluster.json', '/etc/sno-agents/proxy.env'],
    ...[pod('etcd-pod'), pod('kube-apiserver')],
  ];
  for (const path of inTheWay) {
    const { host, run } = await held({ proxy });
    host.write(`${path}/folder`);
    await t.rejects(run(identityFiles), path);
    t.notMatch(host.read('/etc/sno-agents/render-input.json'), 'edge-9', 'it is not done');
  }
  const programs = [
    ['hostnamectl', 'set-hostname edge-9'],
    ['systemctl', 'stop kubelet.service'],
    ['systemctl', 'restart containerd.service'],
    ['systemctl', 'restart kubelet.service'],
  ] as const;
  for (const [name, args] of programs) {
    const { host, run } = await held({ proxy });
    host.programs.unless(name, `[ "$*" = '${args}' ] && exit 1`);
    await t.rejects(run(identityFiles), { message: new RegExp(`"${name} ${args}" failed`) });
    t.notMatch(host.read('/etc/sno-agents/render-input.json'), 'edge-9', 'it is not done');
  }
});

t.test(
  'told to stop, a change of identity waits neither for a program nor for the API',
  async (t) => {
    const { held } = await heldHosts(t);
    const { host, context } = await held();
    host.programs.give('hostnamectl', 'touch "$ROOT/begun"; exec sleep 60');
    const ended = await host.stoppedAt('/begun', (progress) =>
      identityFiles.run(context, progress),
    );
    t.match(ended, { message: /"hostnamectl .*found stopped/ });
    const lease = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler';
    await toldToStop(t, 'a Lease', async (silent, signal) => {
      const held = await (await heldHosts(t, { [`DELETE ${lease}`]: silent })).held();
      await startRenamed.run(held.context, held.host.progress(signal));
    });
  },
);

t.test('files: a runtime reads its proxy anew, and a pinned Node has the new name', async (t) => {
  const { held } = await heldHosts(t);
  const pinned = 'KUBELET_NODE_IPS=192.0.2.10\nKUBELET_NODE_NAME=edge-0\n';
  const { host, run } = await held({ proxy, environment: pinned, isSlow: true });
  await run(identityFiles);
  const text = 'HTTP_PROXY=http://proxy.example:3128\nhttp_proxy=http://proxy.example:3128\n';
  const without = '198.51.100.0/25,api-int.shop.example.org';
  t.match(await identityOn(host), {
    ...expected,
    environment: 'KUBELET_NODE_IPS=198.51.100.7\nKUBELET_NODE_NAME=edge-9\n',
    proxy: `${text}NO_PROXY=${without}\nno_proxy=${without}\n`,
    modes: ['644', '600', '644', '600', '600', '600', '600'],
  });
  t.same(host.programs.calls('systemctl'), [
    'systemctl stop kubelet.service',
    'systemctl restart containerd.service',
    'systemctl restart kubelet.service',
  ]);
});

t.test('start: the rest of the control plane, and a kubelet with the API', async (t) => {
  const { held, seen, requests } = await heldHosts(t);
  const { host, run, holds } = await held({ isSlow: true });
  await run(identityFiles);
  const earlier = host.read(pod('kube-apiserver'));
  requests.length = 0;
  host.programs.forgetCalls();
  t.equal(await holds(startRenamed), false);
  t.equal(await isHeld(host.paths), true);
  seen.asked.length = 0;
  t.same(await run(startRenamed), { kind: 'done' });
  t.same(await Promise.all(COMPONENTS.map((name) => isFresh(host, name))), [
    ...[true, true, true, true],
  ]);
  t.equal(host.read(pod('kube-apiserver')), earlier, 'what runs is not replaced');
  t.same(
    seen.asked.filter((what) => what.startsWith('Lease')).toSorted(),
    ['kube-controller-manager', 'kube-scheduler'].map((name) => `Lease of ${name}, placed: false`),
    'none of a leader that is alive',
  );
  t.same(host.programs.calls(), ['systemctl daemon-reload', 'systemctl restart kubelet.service']);
  t.equal(await isHeld(host.paths), false);
  t.notOk(host.has(kubeletPaths.liveConfig));
  t.same(requests.toSorted(), [
    ...['kube-controller-manager', 'kube-scheduler'].map(
      (name) => `DELETE /apis/coordination.k8s.io/v1/namespaces/kube-system/leases/${name}`,
    ),
    'GET /readyz',
  ]);
  t.equal(await holds(startRenamed), true);
  host.remove(KUBELET_ACTIVE);
  t.equal(await holds(startRenamed), false, 'an API that is not ready');
  host.write(KUBELET_ACTIVE);
  host.write(DROP_IN);
  t.equal(await holds(startRenamed), false, 'a kubelet that may not join it');
  host.remove(DROP_IN);
  t.equal(await holds(startRenamed), true);
  host.remove(pod('kube-scheduler'));
  t.equal(await holds(startRenamed), false, 'a pod that is not placed');
});

t.test('start: interrupted at any moment', async (t) => {
  const { held } = await heldHosts(t);
  await killedAtAnyMoment(t, {
    async prepare() {
      const it = await held();
      for (const name of ['etcd', 'kube-apiserver']) {
        it.host.write(pod(fileOf(name)), it.host.read(heldPod(name)), 0o600);
      }
      return it;
    },
    run: ({ run }) => run(startRenamed),
    async allowed({ host }, when) {
      const placed = COMPONENTS.filter((name) => host.has(pod(fileOf(name))));
      const isWhole = placed.length === COMPONENTS.length;
      t.ok(isWhole || (await isHeld(host.paths)), `${when}: the kubelet joins no half of it`);
      t.ok(!host.has(DROP_IN) || host.has(kubeletPaths.liveConfig), `${when}: it can start`);
    },
    result: async ({ host, holds }) => ({
      holds: await holds(startRenamed),
      placed: COMPONENTS.map((name) => host.has(pod(fileOf(name)))),
      left: host.has(kubeletPaths.liveConfig),
      isStarted: host.programs.calls('systemctl restart kubelet.service').length > 0,
    }),
    least: 12,
    isDurable: true,
  });
});

t.test('files: interrupted at any moment', async (t) => {
  const { held } = await heldHosts(t);
  await killedAtAnyMoment(t, {
    prepare: () =>
      held({ proxy, environment: 'KUBELET_NODE_IPS=192.0.2.10\nKUBELET_NODE_NAME=edge-0\n' }),
    run: ({ run }) => run(identityFiles),
    result: ({ host }) => identityOn(host),
    least: 40,
    isDurable: true,
  });
});
