/** The steps of reconfigure, each on a host in a folder. */
import { cpSync } from 'node:fs';
import t from 'tap';
import { armSite } from '../../../../agents/reconfigure/arm.ts';
import { checkSite } from '../../../../agents/reconfigure/check.ts';
import { siteClock } from '../../../../agents/reconfigure/clock.ts';
import { concludeSite } from '../../../../agents/reconfigure/conclude.ts';
import { confirmSite } from '../../../../agents/reconfigure/confirm.ts';
import { presentInput, wantedIdentity } from '../../../../agents/reconfigure/context.ts';
import { credentials } from '../../../../agents/reconfigure/credentials.ts';
import { placeSiteFiles } from '../../../../agents/reconfigure/files.ts';
import { hostname } from '../../../../agents/reconfigure/hostname.ts';
import { runReconfigure } from '../../../../agents/reconfigure/main.ts';
import { renameAtSite } from '../../../../agents/reconfigure/names.ts';
import { siteNetwork } from '../../../../agents/reconfigure/network.ts';
import { movedSpec, siteObjects } from '../../../../agents/reconfigure/objects.ts';
import { siteOrBack } from '../../../../agents/reconfigure/or-back.ts';
import { stopForSite } from '../../../../agents/reconfigure/stop.ts';
import { commit, recordWayBack, rollback } from '../../../../agents/reconfigure/way-back.ts';
import { Failure } from '../../../../lib/base/errors/failure.ts';
import { identityChange, requestIdentity } from '../../../../lib/change/identity/request.ts';
import { siteChange } from '../../../../lib/change/site/request.ts';
import { lockAgent } from '../../../../lib/engine/steps/lock.ts';
import { endReverted } from '../../../../lib/engine/trial/arm.ts';
import { readTrial } from '../../../../lib/engine/trial/store.ts';
import { removeFile } from '../../../../lib/host/files.ts';
import { isInstalled } from '../../../../lib/host/search-path.ts';
import { saveRenderInput } from '../../../../lib/render/render-input.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';
import { ageKeys } from '../../change/backup/portable-backup.ts';
import { authorityCredentials } from '../../relocation/site-volume/volumes.ts';
import { fakeRuntime } from '../host/runtime.ts';
import { accepted, arrived, REQUEST, SITE, STATE, TRIAL } from './site-host.ts';

t.test('check: adapters that are missing, and another agent at work', async (t) => {
  const { host, run } = await arrived(t);
  t.match(await run(checkSite), { kind: 'done' });
  for (const name of ['br-node', 'eno1']) {
    host.remove(`/sys/class/net/${name}`);
    const reason = new RegExp(`no network adapter .*${name}$`);
    t.match(await run(checkSite), { kind: 'not-yet', reason });
  }
  using _lock = await lockAgent('sno-backup', host.root);
  t.match(await run(checkSite), { kind: 'not-yet', reason: 'sno-backup is running' });
});

const skip = (await isInstalled('nmstatectl')) && 'this machine has nmstatectl';

t.test('check: a network without the program that applies it', { skip }, async (t) => {
  const { host, run } = await arrived(t);
  host.programs.remove('nmstatectl');
  await t.rejects(run(checkSite), { code: 'reconfigure-refused', message: /no nmstatectl/ });
});

t.test('what was looked at once is not looked at again', async (t) => {
  const { holds } = await arrived(t);
  for (const step of [checkSite, siteObjects, renameAtSite])
    t.equal(await holds(step), true, step.name);
});

t.test('files: the store of the site, which the way back takes away', async (t) => {
  const { host } = await arrived(t);
  const path = '/etc/sno-agents/backup-to.json';
  const recipients = [(await ageKeys()).recipient];
  const store = { apiVersion: 'sno-agents/v1', kind: 'BackupTo', recipients };
  const text = JSON.stringify({ ...store, url: 'https://x.example/' });
  host.write(`${STATE}/site/backup-to.json`, text, 0o600);
  const request = await siteChange.read(host.paths);
  if (request === undefined) throw new Error('no request');
  const { run, holds } = await accepted(host, request);
  await run(armSite);
  const kept = (await readTrial(host.paths))?.points.files ?? [];
  t.ok(kept.some((each) => each.path === path));
  t.notOk(await holds(placeSiteFiles));
  await run(placeSiteFiles);
  t.ok(await holds(placeSiteFiles));
  t.equal(host.read(path), text);
  t.equal(host.mode(path), 0o600);
  t.ok(host.programs.calls('systemctl').some((call) => call.includes('sno-backup-push.timer')));
});

t.test('arm: everything that a site changes is kept', async (t) => {
  const { host, run, holds } = await arrived(t);
  t.notOk(await holds(armSite));
  await run(armSite);
  t.ok(await holds(armSite));
  const trial = await readTrial(host.paths);
  const kept = trial?.points.files.map(({ path }) => path) ?? [];
  for (const path of [
    '/etc/kubernetes/manifests/etcd.yaml',
    '/etc/kubernetes/pki/ca/serving/ca.key',
    '/etc/sno-agents/cluster.json',
    '/etc/sno-agents/render-input.json',
    '/etc/sno-agents/factory.json',
    '/etc/sno-agents/sealed',
    '/etc/hostname',
    '/var/lib/sno-agents/record.json',
    `${STATE}/admin.kubeconfig`,
    // They do not exist yet.
    '/var/lib/sno-agents/sno-identity/request.json',
    '/etc/systemd/system/kubelet.service.d/50-sno-identity.conf',
  ]) {
    t.ok(kept.includes(path), path);
  }
  t.same(
    trial?.points.moved.map(({ path }) => path),
    ['/var/lib/etcd', '/var/lib/kubelet/pki'],
  );
});

t.test(
  'once the identity changes, nothing is stopped and no certificate put back again',
  async (t) => {
    const { host, context, holds, request } = await arrived(t);
    host.programs.give('systemctl', 'echo ActiveState=active');
    t.notOk(await holds(stopForSite));
    t.notOk(await holds(credentials));
    const to = wantedIdentity(context);
    await requestIdentity(host.paths, { from: request.from, to });
    t.ok(await holds(stopForSite), 'its own unit is at work');
    t.ok(await holds(credentials));
    await removeFile(identityChange.requestPath(host.paths));
    t.notOk(await holds(stopForSite), 'it has not begun');
    const input = await presentInput(context);
    const cluster = { ...input.cluster, name: to.clusterName, baseDomain: to.baseDomain };
    await saveRenderInput(host.paths, { ...input, cluster });
    t.ok(await holds(stopForSite), 'it has ended');
    t.ok(await holds(credentials));
  },
);

t.test('files: mirrors, time and trust of the site; those of the factory go', async (t) => {
  const config = `${SITE}additionalNTPSources: [198.51.100.123]
imageDigestSources:
  - source: registry.example.org
    mirrors: [mirror.example.com:5000]
`;
  const { host, run, holds } = await arrived(t, { config });
  t.notOk(await holds(placeSiteFiles));
  await run(placeSiteFiles);
  t.ok(await holds(placeSiteFiles));
  t.match(host.read('/etc/chrony.conf'), /^server 198\.51\.100\.123 iburst$/m);
  t.match(
    host.read('/etc/containerd/certs.d/registry.example.org/hosts.toml'),
    /mirror\.example\.com:5000/,
  );
  t.match(JSON.parse(host.read('/etc/sno-agents/render-input.json')), {
    cluster: { name: 'edge', additionalNtpSources: ['198.51.100.123'] },
  });
  // An all-in-one host applies it again at each boot, and an update renders from it.
  for (const name of ['cluster.json', 'render-input.json']) {
    const { cluster, ...description } = JSON.parse(host.read(`/etc/sno-agents/${name}`));
    t.match({ ...description, ...cluster }, { networkConfig: /198\.51\.100\.20/ }, name);
  }
  const calls = host.programs.calls('systemctl');
  t.ok(calls.includes('systemctl restart chronyd.service'));
  t.notOk(
    calls.some((call) => call.includes('restart containerd.service')),
    'no proxy changed',
  );
});

t.test('files: what a killed agent has written only is put to use', async (t) => {
  const config = `${SITE}additionalNTPSources: [198.51.100.123]\n`;
  const { host, run, holds, request } = await arrived(t, { config });
  const calls = () => host.programs.calls('systemctl');
  const restarts = () => calls().filter((call) => call.includes('restart chronyd')).length;
  const note = '/var/lib/sno-agents/reconfigure/unread.json';
  const killed = (id: string) =>
    host.write(note, JSON.stringify({ id, paths: ['/etc/chrony.conf'] }));
  await run(placeSiteFiles);
  t.ok(await holds(placeSiteFiles));
  t.equal(restarts(), 1);
  await run(placeSiteFiles);
  t.equal(restarts(), 1, 'nothing differs');
  killed(request.id);
  t.notOk(await holds(placeSiteFiles), 'the files are there, and nobody reads them');
  await run(placeSiteFiles);
  t.equal(restarts(), 2);
  t.ok(await holds(placeSiteFiles));
  killed('an earlier one, taken back');
  t.ok(await holds(placeSiteFiles));
});

t.test('files: a proxy is read by the runtime that the host has', async (t) => {
  const config = `${SITE}machine_networks: [198.51.100.0/24]
proxy:
  httpProxy: http://proxy.site.test:3128
  httpsProxy: http://secure.site.test:3129
  noProxy: .site.test
`;
  const { host, run } = await arrived(t, { config });
  await fakeRuntime(t, host, () => []);
  await run(placeSiteFiles);
  const lines = host.read('/etc/sno-agents/proxy.env').split('\n');
  for (const name of ['HTTP_PROXY', 'http_proxy'])
    t.ok(lines.includes(`${name}=http://proxy.site.test:3128`), name);
  for (const name of ['HTTPS_PROXY', 'https_proxy'])
    t.ok(lines.includes(`${name}=http://secure.site.test:3129`), name);
  const exempt = lines
    .find((line) => line.startsWith('NO_PROXY='))
    ?.slice(9)
    .split(',');
  // What the site says, all names of the host, its networks, and that of the internal address.
  for (const each of [
    '.site.test',
    '.shop.example.com',
    'api-int.shop.example.com',
    '192.0.2.0/24',
    '198.51.100.0/24',
  ])
    t.ok(exempt?.includes(each), each);
  t.match(JSON.parse(host.read('/etc/sno-agents/cluster.json')).proxy, {
    httpProxy: 'http://proxy.site.test:3128',
    httpsProxy: 'http://secure.site.test:3129',
  });
  const calls = host.programs.calls('systemctl');
  const reloaded = calls.indexOf('systemctl daemon-reload');
  t.ok(reloaded >= 0 && reloaded < calls.indexOf('systemctl restart containerd.service'));
  t.notOk(calls.join('\n').includes('crio.service'), 'which the host has not');
});

t.test('clock: not before the newest certificate', async (t) => {
  const { run, context, host } = await arrived(t);
  t.match(await run(siteClock), { kind: 'done' });
  const given = await authorityCredentials(new Date(Date.now() + 90 * 86_400_000));
  const ahead = { ...context, credentials: given };
  t.match(await siteClock.run(ahead, host.progress()), {
    kind: 'not-yet',
    reason: /the clock says .* name additionalNTPSources/,
  });
  t.notOk(await siteClock.holds(ahead, host.progress()));
});

t.test('hostname: that of the site', async (t) => {
  const { host, run, holds } = await arrived(t);
  t.notOk(await holds(hostname));
  await run(hostname);
  t.ok(await holds(hostname));
  t.equal(host.read('/etc/hostname'), 'till-7\n');
});

t.test('objects: hosts of Ingresses move with the domain, others stay', async (t) => {
  const ingress = {
    metadata: { name: 'shop', namespace: 'default' },
    spec: {
      rules: [{ host: 'a.apps.edge.example.test', http: {} }, { host: 'shop.example.org' }, {}],
      tls: [{ hosts: ['a.apps.edge.example.test'], secretName: 'tls' }],
    },
  };
  t.same(movedSpec(ingress, 'edge.example.test', 'shop.example.com'), {
    rules: [{ host: 'a.apps.shop.example.com', http: {} }, { host: 'shop.example.org' }, {}],
    tls: [{ hosts: ['a.apps.shop.example.com'], secretName: 'tls' }],
  });
  t.equal(movedSpec(ingress, 'other.test', 'shop.example.com'), undefined);
  t.equal(movedSpec({ ...ingress, spec: {} }, 'a', 'b'), undefined);
});

t.test(
  'a failure before the trial changes nothing, one behind it takes everything back',
  async (t) => {
    const { host, context, run } = await arrived(t);
    const guarded = siteOrBack(checkSite);
    const failure = new Failure('fatal', 'no adapter', { fix: 'Plug it in.' });
    t.match(await guarded.instead?.(context, failure), /nothing was changed: no adapter/);
    t.match(await siteChange.read(host.paths), { failure: { what: 'no adapter' } });
    t.ok(await siteOrBack(armSite).holds(context, host.progress()), 'nothing more is done');
    t.match(await thrownBy(run(concludeSite)), {
      message: /failed before anything was changed; found no adapter\. Plug it in\./,
      details: { parts: [{ what: 'no adapter' }] },
    });
    t.match(await siteChange.last(host.paths), { outcome: 'refused' });
    t.notOk(host.has(REQUEST));
    t.notOk(host.has(`${STATE}/site`));

    const other = await arrived(t);
    await other.run(armSite);
    t.match(
      await siteOrBack(siteNetwork).instead?.(other.context, failure),
      /so the host goes back/,
    );
    t.match(await readTrial(other.host.paths), { reverting: { what: 'no adapter' } });
    t.match(await other.run(concludeSite), { kind: 'not-yet' });
  },
);

t.test('confirm keeps a way back, until it is committed or a week has passed', async (t) => {
  const it = await arrived(t);
  const { host, context, run, holds } = it;
  await run(armSite);
  const hostnameBefore = host.read('/etc/hostname');
  await run(hostname);
  host.write('/var/lib/sno-agents/sno-trial/etcd/member/snap/db', 'the database');
  await run(confirmSite);
  t.ok(await holds(confirmSite));
  t.notOk(host.has(TRIAL));
  t.match(await run(concludeSite), { note: 'the site configuration 7' });
  t.match(await siteChange.last(host.paths), { outcome: 'configured' });

  const { settings } = context;
  const later = new Date(Date.now() + 8 * 86_400_000);
  t.match(await thrownBy(rollback(host.paths, settings, later)), { message: /kept for 168 hours/ });
  const printed: string[] = [];
  const write = (text: string) => void printed.push(text);
  t.equal(await runReconfigure(host.paths, ['rollback', '--yes'], { write }), 0);
  t.match(printed.join(''), /with everything .* It will be lost: no backup was made/);
  const started = host.programs
    .calls('systemctl')
    .filter((call) => / start .*\.service$/.test(call));
  t.match(started, [/sno-backup\.service/, /sno-trial\.service/], 'first a backup');
  const trial = await readTrial(host.paths);
  t.match(trial, { reverting: { what: /reconfigure rollback/ } });
  t.equal(host.read('/var/lib/sno-agents/sno-trial/etcd/member/snap/db'), 'the database');
  const kept = trial?.points.files.find(({ path }) => path === '/etc/hostname')?.was?.copy ?? '';
  t.equal(host.read(`/var/lib/sno-agents/sno-trial/copies/${kept}`), hostnameBefore);
  t.ok(host.has('/var/lib/sno-agents/bin/sno-agents.trial'));

  await t.test(
    'once the host is back, the site is not in use, and its volume may be again',
    async (t) => {
      t.match(await readTrial(host.paths), { reverting: { code: 'way-back-requested' } });
      const result = host.read(`${STATE}/result.json`);
      const copy = t.testdir({});
      cpSync(host.at(`${STATE}/before`), copy, { recursive: true });
      await recordWayBack(host.paths);
      t.match(
        await siteChange.last(host.paths),
        { outcome: 'configured' },
        'it has not gone back yet',
      );
      if (trial === undefined) throw new Error('nothing is on trial');
      await endReverted(host.paths, trial);
      await recordWayBack(host.paths);
      t.match(await siteChange.last(host.paths), {
        outcome: 'reverted',
        failure: { what: /taken back by "reconfigure rollback"/ },
      });
      t.notOk(host.has(`${STATE}/before`));
      const again = await thrownBy(rollback(host.paths, settings, new Date()));
      t.match(again, { message: /committed/ });
      // As before, for what follows.
      cpSync(copy, host.at(`${STATE}/before`), { recursive: true });
      host.write(`${STATE}/result.json`, result, 0o600);
    },
  );

  t.match(await commit(host.paths), 'the site configuration 7');
  t.match(await thrownBy(rollback(host.paths, settings, new Date())), { message: /committed/ });
  t.match(await thrownBy(commit(host.paths)), { kind: 'usage' });
});
