import t, { type Test } from 'tap';
import { checkIdentityChange } from '../../../../agents/upkeep/identity/check.ts';
import { concludeIdentity } from '../../../../agents/upkeep/identity/conclude.ts';
import {
  type IdentityContext,
  identityContext,
} from '../../../../agents/upkeep/identity/context.ts';
import { hold, release } from '../../../../agents/upkeep/identity/hold.ts';
import { identityObjects } from '../../../../agents/upkeep/identity/objects.ts';
import { createAuthority } from '../../../../lab/certificates/signed-now.ts';
import { isHeld } from '../../../../lib/change/identity/held.ts';
import { identityOf } from '../../../../lib/change/identity/identity.ts';
import { identityChange, requestIdentity } from '../../../../lib/change/identity/request.ts';
import { isApiReady } from '../../../../lib/clients/kube/api-ready.ts';
import { lockAgent } from '../../../../lib/engine/steps/lock.ts';
import type { StepBody } from '../../../../lib/engine/steps/within.ts';
import { namesIn } from '../../../../lib/host/files.ts';
import { defaultSettings } from '../../../../lib/host/settings.ts';
import { authorityPaths } from '../../../../lib/render/kubernetes/authorities.ts';
import { saveRenderInput } from '../../../../lib/render/render-input.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';
import { startFakeApi } from '../../clients/kube/fake-api.ts';
import { killedAtAnyMoment } from '../../engine/steps/killed-at-any-moment.ts';
import { input, rendered, servingPair } from '../../render/rendered-host.ts';
import { COMPONENTS } from '../backup/backup-host.ts';
import { fakeControlPlane } from '../host/control-plane.ts';
import { type HostOptions, testHost } from '../host/host.ts';
import { giveAddresses } from '../host/network.ts';
import { apiOf } from './earlier-authority.ts';

const FOLDER = '/var/lib/sno-agents/sno-identity';
const DROP_IN = '/etc/systemd/system/kubelet.service.d/50-sno-identity.conf';
const LIVE_CONFIG = '/etc/kubernetes/kubelet-live.yaml';
const pod = (name: string) => `/etc/kubernetes/manifests/${name}.yaml`;
const from = identityOf(input);
const to = { ...from, hostname: 'edge-9', nodeIps: ['198.51.100.7'] as [string] };

async function changingHost(t: Test, options: HostOptions = {}) {
  const host = testHost(t, options);
  for (const { path, contents, mode, uses } of rendered.files) {
    if (uses.includes('control-plane')) host.write(path, contents, mode);
  }
  for (const { component, manifest } of rendered.staticPods) host.write(pod(component), manifest);
  await saveRenderInput(host.paths, input);
  giveAddresses(host, '198.51.100.7/24');
  await fakeControlPlane(t, host, pod);
  const request = await requestIdentity(host.paths, { from, to });
  const context: IdentityContext = { ...host.context, request, hostname: () => to.hostname };
  return {
    host,
    context,
    run: (step: StepBody<IdentityContext>) => step.run(context, host.progress()),
    holds: (step: StepBody<IdentityContext>) => step.holds(context, host.progress()),
  };
}

t.test('check: the addresses of the new identity, and nobody else at work', async (t) => {
  const { host, run } = await changingHost(t);
  t.match(await run(checkIdentityChange), { kind: 'done', note: '198.51.100.7' });
  giveAddresses(host, '192.0.2.10/24');
  t.match(await run(checkIdentityChange), {
    kind: 'not-yet',
    reason: /does not have the address 198\.51\.100\.7 .*192\.0\.2\.10/,
  });
  const lock = await lockAgent('sno-backup', host.root);
  t.match(await run(checkIdentityChange), { kind: 'not-yet', reason: 'sno-backup is running' });
  lock[Symbol.dispose]();
  giveAddresses(host);
  t.match(await run(checkIdentityChange), {
    kind: 'not-yet',
    reason: /does not have the address .*\(none\)/,
  });
  giveAddresses(host, '198.51.100.7/24');
  await run(hold);
  t.match(await run(checkIdentityChange), { kind: 'done' }, 'pods that are held are not missing');
  host.remove(`${FOLDER}/manifests/etcd.yaml`);
  t.match(await thrownBy(run(checkIdentityChange)), {
    kind: 'fatal',
    message: /no static pod of etcd/,
  });
});

t.test('check: nothing is stopped with a clock at which the host can sign nothing', async (t) => {
  const { host, run } = await changingHost(t);
  const past = new Date('2020-01-01T00:00:00Z');
  const { certificate } = await createAuthority('kubelet-client-ca', 1, past);
  host.write(authorityPaths('kubelet-client').certificate, certificate);
  t.match(await run(checkIdentityChange), {
    kind: 'not-yet',
    reason: /kubelet-client-ca has expired.*Check the host's clock/,
  });
});

t.test('hold: the control plane stops, and the kubelet cannot register a Node', async (t) => {
  const { host, run, holds } = await changingHost(t);
  t.equal(await holds(hold), false);
  await run(hold);
  t.equal(await holds(hold), true);
  t.same(host.programs.calls('systemctl'), [
    'systemctl daemon-reload',
    'systemctl stop kubelet.service',
  ]);
  t.equal(host.mode(DROP_IN), 0o644);
  for (const name of COMPONENTS) {
    t.notOk(host.has(pod(name)), name);
    t.ok(host.has(`${FOLDER}/manifests/${name}.yaml`), name);
  }
  t.match(
    host.read(DROP_IN),
    /^ExecStart=\nExecStart=\S+\/kubelet --config=\/etc\/kubernetes\/kubelet-live\.yaml\n/m,
  );
  t.notMatch(host.read(DROP_IN), /kubeconfig/);
  t.match(host.read(LIVE_CONFIG), /staticPodPath: \/etc\/kubernetes\/manifests/);
  t.equal(await isHeld(host.paths), true);
  await run(hold);
  t.ok(host.has(`${FOLDER}/manifests/etcd.yaml`), 'a second run loses nothing');

  await release(host.paths, new AbortController().signal);
  t.equal(await isHeld(host.paths), false);
  t.notOk(host.has(LIVE_CONFIG));
  t.equal(host.programs.calls('systemctl').at(-1), 'systemctl daemon-reload');
});

t.test('objects: a damaged list of the volumes to keep is not taken for none', async (t) => {
  const { host, context } = await changingHost(t);
  const { api, client } = await startFakeApi(t);
  api.rule(() => ({ code: 200, body: { metadata: { resourceVersion: '1' }, items: [] } }));
  const withAdministrator: IdentityContext['withAdministrator'] = async (_progress, use) =>
    use(client);
  const holds = () => identityObjects.holds({ ...context, withAdministrator }, host.progress());
  t.equal(await holds(), true, 'nothing is left to do');
  host.write(`${FOLDER}/volumes.json`, `{"id":"${context.request.id}","volumes":[{`);
  t.match(await thrownBy(holds()), {
    kind: 'fatal',
    message: /volumes\.json cannot be used; .*found no JSON\. Restore the file/,
  });
});

t.test('conclude: only the record stays', async (t) => {
  const { host, run, holds } = await changingHost(t);
  host.write(`${FOLDER}/manifests/etcd.yaml`, '');
  host.write(`${FOLDER}/volumes.json`, '');
  host.write(`${FOLDER}/restarts.json`, '');
  const installed = { schemaVersion: 1, completed: '2026-11-21', steps: [{ agent: 'aiokube' }] };
  const of = { cluster: 'edge.factory.test', node: 'edge-0' };
  host.write('/var/lib/sno-agents/record.json', JSON.stringify({ ...of, ...installed }));
  t.equal(await holds(concludeIdentity), false);
  t.match(await run(concludeIdentity), {
    note: 'name edge-0 -> edge-9; address 192.0.2.10 -> 198.51.100.7',
  });
  t.equal(await holds(concludeIdentity), true);
  t.equal(await identityChange.read(host.paths), undefined);
  t.match(await identityChange.last(host.paths), { from, to });
  t.same(await namesIn(host.at(FOLDER)), ['last.json']);
  t.equal(host.mode('/var/lib/sno-agents/record.json'), 0o644);
  t.equal(host.mode(`${FOLDER}/last.json`), 0o600);
  const named = { cluster: `${to.clusterName}.${to.baseDomain}`, node: 'edge-9' };
  t.same(JSON.parse(host.read('/var/lib/sno-agents/record.json')), { ...installed, ...named });
});

t.test('conclude: the record of the installation has the present names', async (t) => {
  const cluster = `${to.clusterName}.${to.baseDomain}`;
  const right = JSON.stringify({ cluster, node: 'edge-9' });
  const table: [before: string | undefined, after: object | string | undefined][] = [
    [right, right],
    [JSON.stringify({ cluster: 'a.b', node: 'edge-9' }), { cluster, node: 'edge-9' }],
    [JSON.stringify({ cluster, node: 'edge-0' }), { cluster, node: 'edge-9' }],
    ['damaged', 'damaged'],
    [undefined, undefined],
  ];
  for (const [before, after] of table) {
    const { host, run } = await changingHost(t);
    const path = '/var/lib/sno-agents/record.json';
    if (before !== undefined) host.write(path, before);
    await run(concludeIdentity);
    const found = host.has(path) ? host.read(path) : undefined;
    t.same(typeof after === 'object' ? JSON.parse(found ?? '') : found, after, before ?? 'none');
  }
});

t.test('interrupted at any moment, the control plane is held as a whole', async (t) => {
  await killedAtAnyMoment(t, {
    prepare: () => changingHost(t),
    run: ({ run }) => run(hold),
    allowed({ host }, when) {
      t.ok(!host.has(DROP_IN) || host.has(LIVE_CONFIG), `${when}: the kubelet can start`);
      for (const name of COMPONENTS) {
        const places = [pod(name), `${FOLDER}/manifests/${name}.yaml`];
        t.ok(
          places.some((path) => host.has(path) && host.read(path) !== ''),
          `${when}: ${name}`,
        );
      }
    },
    result: async ({ host, holds }) => ({
      holds: await holds(hold),
      manifests: COMPONENTS.map((name) => host.read(`${FOLDER}/manifests/${name}.yaml`)),
      kubelet: host.read(DROP_IN),
    }),
    least: 10,
    isDurable: true,
  });
});

t.test('interrupted at any moment of its end, it is ended once', async (t) => {
  await killedAtAnyMoment(t, {
    async prepare() {
      const it = await changingHost(t);
      it.host.write(`${FOLDER}/manifests/etcd.yaml`, '');
      it.host.write(`${FOLDER}/volumes.json`, '');
      it.host.write(`${FOLDER}/restarts.json`, '');
      it.host.write('/var/lib/sno-agents/record.json', '{"cluster":"a.b","node":"edge-0"}');
      return it;
    },
    run: ({ run }) => run(concludeIdentity),
    // As its plan does: a request that has ended is not ended again.
    again: async ({ run, holds }) =>
      void ((await holds(concludeIdentity)) || (await run(concludeIdentity))),
    result: async ({ host }) => ({
      request: await identityChange.read(host.paths),
      to: (await identityChange.last(host.paths))?.to,
      record: host.read('/var/lib/sno-agents/record.json'),
      left: (await namesIn(host.at(FOLDER))).filter((name) => !name.startsWith('.')),
    }),
    least: 8,
  });
});

t.test('hold: a host of an earlier release has nothing to render from', async (t) => {
  const { host, run } = await changingHost(t);
  host.remove('/etc/sno-agents/render-input.json');
  t.match(await thrownBy(run(hold)), {
    kind: 'fatal',
    message: /render-input\.json does not exist; expected what the control plane was rendered from/,
  });
  t.ok(host.has(pod('etcd')));
});

t.test('hold: it does not hold with a pod in its place, or containers that run', async (t) => {
  const { host, run, holds } = await changingHost(t);
  await run(hold);
  host.write(pod('etcd'), host.read(`${FOLDER}/manifests/etcd.yaml`));
  t.equal(await holds(hold), false, 'a pod');
  host.remove(pod('etcd'));
  t.equal(await holds(hold), true);
  for (const name of COMPONENTS) {
    host.remove(`/run/stopped-id-of-${name}`);
    t.equal(await holds(hold), false, `a container of ${name}`);
    host.write(`/run/stopped-id-of-${name}`);
  }
  host.write(DROP_IN, 'another');
  t.equal(await holds(hold), false, 'a drop-in');
});

t.test('the host of a change: only what happened since the request counts', async (t) => {
  const { host } = await changingHost(t);
  host.write('/etc/sno-agents/cluster.json', JSON.stringify(host.context.cluster));
  const { request, bootTime, hostname } = await identityContext(host.paths);
  t.equal(hostname(), 'edge-9');
  const signal = AbortSignal.timeout(10_000);
  const booted = (script: string) => {
    host.programs.give('systemctl', script);
    return bootTime(signal);
  };
  t.same(await booted('echo -99000000'), new Date(request.at), 'booted before');
  const later = await booted('echo 9999999999999999');
  t.ok(later > new Date(request.at), 'booted since');
  host.remove('/var/lib/sno-agents/sno-identity/request.json');
  t.match(await thrownBy(identityContext(host.paths)), {
    kind: 'usage',
    message: /no change of the identity was requested.*Run "sno-identity change"/,
  });
});

t.test('a change has the rights of a moment: those of the installation are deleted', async (t) => {
  const { url: api } = await apiOf(t, servingPair, { 'GET /readyz': {} });
  const { host } = await changingHost(t, { endpoints: { api } });
  host.write('/etc/sno-agents/cluster.json', JSON.stringify(host.context.cluster));
  const { withAdministrator } = await identityContext(host.paths);
  const { signal } = new AbortController();
  t.ok(await withAdministrator(host.progress(), (client) => isApiReady(client, signal)));
});

t.test('as a part of another change, which waits itself, it waits for no window', async (t) => {
  const { host } = await changingHost(t);
  host.write('/etc/sno-agents/cluster.json', JSON.stringify(host.context.cluster));
  const { settings } = await identityContext(host.paths);
  t.equal(settings.settlingWindowMs, defaultSettings.settlingWindowMs);
  await requestIdentity(host.paths, { from, to, settlesLater: true });
  const part = await identityContext(host.paths);
  t.same(part.settings, { ...settings, settlingWindowMs: 0 });
});
