/** `sno fleet site` for installations against a real API server, with real ISOs: what is made, and made once. */
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { hubKinds } from '../../../cli/fleet/worker/kinds.ts';
import { decodeDataUrl } from '../../../lib/base/data-url.ts';
import { resources } from '../../../lib/clients/kube/resources.ts';
import { parseConfig } from '../../../lib/render/ignition/config.ts';
import { ageKeys } from '../../unit/relocation/site-volume/volumes.ts';
import { at, embedded, makeInputs, payload, share, skip } from '../shared-iso-folder.ts';
import { limits, NAMESPACE, startHub } from './hub.ts';

if (skip) {
  t.pass(skip, { skip: true });
  process.exit();
}

const PULL_SECRET = '{"auths":{"registry.example.com":{"auth":"aWQ6c2VjcmV0LXBhc3M="}}}';
const TEMPLATE = `apiVersion: v1
baseDomain: example.com
metadata:
  name: \${name}
compute:
- {name: worker, replicas: 0}
controlPlane: {name: master, replicas: 1}
platform:
  none: {}
bootstrapInPlace:
  installationDisk: \${disk}
pullSecret: \${pull_secret}
`;
const MANIFEST = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: own, namespace: default}\n';

await makeInputs();
await share('shared.iso', ...payload());
const hub = await startHub(t);
await hub.create(resources.configMaps, {
  metadata: { name: 'new-shop' },
  data: { 'install-config.yaml': TEMPLATE, 'manifests.own.yaml': MANIFEST },
});
await hub.create(hubKinds.secrets, {
  metadata: { name: 'pull-secret' },
  data: { pull_secret: Buffer.from(PULL_SECRET).toString('base64') },
});
const BACKUP_TO = JSON.stringify({
  ...{ apiVersion: 'sno-agents/v1', kind: 'BackupTo' },
  recipients: [(await ageKeys()).recipient],
  url: 'https://files.example.com/backups/',
});
await hub.create(hubKinds.secrets, {
  metadata: { name: 'backups' },
  data: { 'backup-to.json': Buffer.from(BACKUP_TO).toString('base64') },
});

const newSite = (name: string, spec: object = {}) =>
  hub.newSite(name, name, {
    action: 'install',
    serial: undefined,
    templateRef: { name: 'new-shop' },
    secretRefs: [{ name: 'pull-secret' }],
    values: { name, disk: '/dev/vda' },
    hostFactsRef: undefined,
    ...spec,
  });
const deliver = (name: string, ...more: string[]) =>
  hub.run('deliver', name, '--shared', at('shared.iso'), ...more);
const collect = (name: string, ...more: string[]) =>
  hub.run('collect', name, '--deadline', '30s', ...more);
const keysOf = async (name: string) =>
  (await hub.find(hubKinds.secrets, `${name}-auth`))?.data ?? {};
const text = (data: Record<string, string>, key: string) =>
  Buffer.from(data[key] ?? '', 'base64').toString();
const isoOf = async (name: string) => {
  const { iso } = JSON.parse(text(await keysOf(name), 'volume.json'));
  return join(hub.published, `${iso}.iso`);
};
const fileIn = (config: string, path: string) => {
  const { storage } = parseConfig(config, 'the ISO');
  const contents = storage?.files?.find((each) => each.path === path)?.contents;
  return contents === undefined ? undefined : decodeDataUrl(contents).toString('utf8');
};
const host = (name: string, spec: object = {}) =>
  hub.create(hubKinds.bareMetalHosts, {
    apiVersion: 'metal3.io/v1alpha1',
    kind: 'BareMetalHost',
    metadata: { name, namespace: NAMESPACE },
    spec: { bmc: { address: 'redfish://192.0.2.1' }, online: false, ...spec },
  });

t.test('for a person: an ISO of its own, whose node reports from the first minute', async (t) => {
  await newSite('berlin', { secretRefs: [{ name: 'pull-secret' }, { name: 'backups' }] });
  const made = await deliver('berlin');
  t.equal(made.code, 0, made.err);
  t.match(made.out, /berlin: delivered: somebody has to boot the host with the live ISO/);
  const iso = await isoOf('berlin');
  t.equal(statSync(iso).mode & 0o777, 0o644, 'for a web server of another user');
  const config = await embedded(iso);
  t.equal(fileIn(config, '/root/.docker/config.json'), PULL_SECRET);
  t.match(fileIn(config, '/etc/sno-agents/cluster.json'), /"name": "berlin"/);
  t.equal(fileIn(config, '/opt/openshift/manifests/own.yaml'), MANIFEST);
  t.equal(fileIn(config, '/etc/sno-agents/backup-to.json'), BACKUP_TO);
  const { uid } = (await hub.site('berlin')).metadata;
  const reportTo = JSON.parse(fileIn(config, '/etc/sno-agents/report-to.json') ?? '');
  t.match(reportTo, { hub: { namespace: NAMESPACE, name: 'berlin', uid, serial: 1 } });
  const keys = await keysOf('berlin');
  t.match(parse(text(keys, 'kubeconfig')), {
    clusters: [{ cluster: { server: 'https://api.berlin.example.com:6443' } }],
  });
  const { volume } = (await hub.site('berlin')).status ?? {};
  t.match(volume, { serial: 1, action: 'install', url: undefined }, 'its address is a secret');
  t.match(await deliver('berlin'), { code: 0, out: /nothing to do: the serial 1 is delivered/ });
  t.same(await keysOf('berlin'), keys);

  await t.test('an ISO that was lost is made again, with the same keys', async (t) => {
    await hub.client.json(
      {
        method: 'PATCH',
        path: `/apis/fleet.sno-agents.io/v1alpha1/namespaces/${NAMESPACE}/sites/berlin/status`,
        contentType: 'application/merge-patch+json',
        body: { status: null },
      },
      limits,
    );
    rmSync(iso);
    const again = await deliver('berlin');
    t.equal(again.code, 0, again.err);
    t.equal(await embedded(iso), config);
    t.same((await keysOf('berlin')).kubeconfig, keys.kubeconfig);
  });

  await t.test('a Site that is changed then needs another serial', async (t) => {
    await hub.apply('berlin', { spec: { values: { name: 'berlin', disk: '/dev/vdb' } } }, 'test');
    await hub.apply('berlin', { status: {} }, 'sno-fleet', 'status');
    t.match(await deliver('berlin'), { code: 2, err: /changed after its volume was published/ });
  });
});

t.test('faults are in the condition, without secrets', async (t) => {
  await newSite('bad', { values: { name: 'Not A Name', disk: '/dev/vda' } });
  const run = await deliver('bad');
  t.equal(run.code, 2);
  const rendered = await hub.condition('bad', 'Rendered');
  t.match(rendered, { status: 'False', message: /metadata\.name/ });
  t.notMatch(`${rendered?.message}${run.err}`, /c2VjcmV0|\.sno-site-/);
  await newSite('no-shared');
  t.match(await hub.run('deliver', 'no-shared'), { code: 2, err: /--shared is missing/ });
  t.equal(await hub.condition('no-shared', 'Rendered'), undefined, 'no fault of the Site');
});

t.test('by virtual media: the host boots it, and is left alone once it is installed', async (t) => {
  await host('host-1');
  const delivery = { by: 'virtualMedia', bareMetalHost: { name: 'host-1' } };
  await newSite('rome', { delivery });
  const made = await deliver('rome');
  t.equal(made.code, 0, made.err);
  const { iso } = JSON.parse(text(await keysOf('rome'), 'volume.json'));
  const { uid } = (await hub.site('rome')).metadata;
  t.match(await hub.find(hubKinds.bareMetalHosts, 'host-1'), {
    metadata: { annotations: { 'fleet.sno-agents.io/installed-for': `${uid}/1` } },
    spec: {
      image: { url: `http://hub.example/sites/${iso}.iso`, format: 'live-iso' },
      online: true,
      bmc: { address: 'redfish://192.0.2.1' },
    },
  });

  await t.test('what an earlier installation says is not said of this one', async (t) => {
    await hub.report('rome', { change: 'relocate', state: 'done' });
    const run = await hub.run('collect', 'rome', '--deadline', '1s');
    t.match(run, { code: 3, err: /to report/ });
  });

  await t.test(
    'done: its kubeconfig is kept, and the ISO with its secrets taken away',
    async (t) => {
      await hub.report('rome', { change: 'install', state: 'done' });
      const run = await collect('rome', '--no-exchange');
      t.equal(run.code, 0, run.err);
      t.match(run.out, /rome: the node is installed$/);
      const secret = await hub.find(hubKinds.secrets, 'rome-admin-kubeconfig');
      t.match(secret?.metadata.labels, { 'hive.openshift.io/secret-type': 'kubeconfig' });
      t.equal(secret?.data?.kubeconfig, (await keysOf('rome')).kubeconfig);
      t.notOk(readdirSync(hub.published).includes(`${iso}.iso`));
      t.notOk((await keysOf('rome'))['live.ign.gz'], 'nobody needs its keys any more');
      t.match(await hub.find(hubKinds.bareMetalHosts, 'host-1'), {
        metadata: { annotations: { 'baremetalhost.metal3.io/detached': 'sno-fleet' } },
        spec: { image: { format: 'live-iso' }, online: true },
      });
    },
  );

  await t.test('a node that is not reached keeps its first administrator', async (t) => {
    const run = await hub.run('collect', 'rome', '--deadline', '2s');
    t.match(run, { code: 1, err: /was not exchanged/ });
    t.ok(await hub.find(hubKinds.secrets, 'rome-admin-kubeconfig'));
  });

  await t.test('another serial installs it anew', async (t) => {
    await hub.apply('rome', { spec: { serial: 2 } }, 'test');
    const again = await deliver('rome');
    t.equal(again.code, 0, again.err);
    const next = JSON.parse(text(await keysOf('rome'), 'volume.json')).iso;
    t.not(next, iso);
    const { metadata, spec } = (await hub.find(hubKinds.bareMetalHosts, 'host-1')) ?? {};
    t.match(spec, { image: { url: `http://hub.example/sites/${next}.iso` } });
    t.notOk(metadata?.annotations?.['baremetalhost.metal3.io/detached']);
  });

  await t.test('a host that has another purpose is refused', async (t) => {
    for (const [name, spec, err] of [
      ['has-node', { externallyProvisioned: true }, /has a node already/],
      ['has-image', { image: { url: 'http://x' } }, /has another image/],
    ] as const) {
      await host(name, spec);
      await newSite(name, { delivery: { by: 'virtualMedia', bareMetalHost: { name } } });
      t.match(await deliver(name), { code: 2, err }, name);
    }
  });
});

t.test('with the config by URL, the ISO has its address alone', async (t) => {
  await newSite('oslo');
  const url = ['--publish-url', 'https://hub.example/sites', '--config-by-url'];
  const made = await deliver('oslo', ...url);
  t.equal(made.code, 0, made.err);
  const iso = await isoOf('oslo');
  const config = iso.replace(/iso$/, 'ign');
  const name = config.split('/').at(-1);
  const { ignition } = parseConfig(await embedded(iso), 'the ISO');
  t.match(ignition.config, { replace: { source: `https://hub.example/sites/${name}` } });
  const served = readFileSync(config, 'utf8');
  t.equal(fileIn(served, '/root/.docker/config.json'), PULL_SECRET);
  t.equal(statSync(config).mode & 0o777, 0o644);
  await hub.report('oslo', { change: 'install', state: 'done' });
  t.equal((await collect('oslo', '--no-exchange')).code, 0);
  t.notOk(readdirSync(hub.published).some((each) => each === name || iso.endsWith(each)));
});

t.test('nothing unfinished is in the published folder', async (t) => {
  t.same(
    readdirSync(hub.published).filter((name) => name.startsWith('.')),
    [],
  );
});
