/** Ways in which nobody carries a volume: a URL that the node asks, and virtual media. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { hubKinds } from '../../../cli/fleet/worker/kinds.ts';
import { skipWithout } from '../media/images.ts';
import { NAMESPACE, startHub } from './hub.ts';

const skip = await skipWithout('xorriso', 'ssh-keygen');
if (skip) {
  t.pass('xorriso and ssh-keygen are not installed', { skip: true });
  process.exit();
}
const hub = await startHub(t);

/** In the published folder. */
const isoOf = async (name: string) => {
  const kept = (await hub.find(hubKinds.secrets, `${name}-auth`))?.data ?? {};
  const facts = JSON.parse(Buffer.from(kept['volume.json'] ?? '', 'base64').toString());
  return `${facts.iso}.iso`;
};

t.test('by URL: under each name that the node may ask for', async (t) => {
  const identifiers = ['m-url', '52:54:00:aa:bb:01'];
  await hub.machine('m-url', { identifiers });
  await hub.newSite('by-url', 'm-url', { delivery: { by: 'url' } });
  const made = await hub.run('deliver', 'by-url');
  t.equal(made.code, 0, made.err);
  const iso = readFileSync(join(hub.published, await isoOf('by-url')));
  for (const name of ['m-url.site', '52-54-00-aa-bb-01.site']) {
    t.ok(readFileSync(join(hub.published, name)).equals(iso), name);
  }

  await t.test('none takes it away, and never that of the next Site', async (t) => {
    const none = { spec: { action: 'none' } };
    const isThere = () => readdirSync(hub.published).includes('m-url.site');
    const first = await isoOf('by-url');
    await hub.apply('by-url', none, 'test');
    t.match(await hub.run('deliver', 'by-url'), { code: 0, out: /its action is none/ });
    t.notOk(isThere());
    t.notOk(readdirSync(hub.published).includes(first));
    await hub.newSite('by-url-2', 'm-url', { serial: 2, delivery: { by: 'url' } });
    t.equal((await hub.run('deliver', 'by-url-2')).code, 0);
    t.ok(isThere());
    t.equal((await hub.run('deliver', 'by-url')).code, 0);
    t.ok(isThere(), 'the Jobs of the wave run again');
  });

  await t.test('not one that everybody can read', async (t) => {
    await hub.machine('m-open', { recipient: undefined });
    await hub.newSite('open', 'm-open', { delivery: { by: 'url' } });
    const err = /a volume that is not encrypted cannot be delivered by a URL/;
    t.match(await hub.run('deliver', 'open'), { code: 2, err });
    t.match(await hub.condition('open', 'Rendered'), { status: 'False', message: err });
    t.notOk(readdirSync(hub.published).includes('m-open.site'));
  });
});

t.test('by virtual media: a DataImage, and the host is started once', async (t) => {
  await hub.machine('m-bmc');
  await hub.create(hubKinds.bareMetalHosts, {
    apiVersion: 'metal3.io/v1alpha1',
    kind: 'BareMetalHost',
    metadata: { name: 'host-1', namespace: NAMESPACE },
    spec: { bmc: { address: 'redfish://192.0.2.1' }, online: false },
  });
  const delivery = { by: 'virtualMedia', bareMetalHost: { name: 'host-1' } };
  await hub.newSite('bmc', 'm-bmc', { delivery });
  const made = await hub.run('deliver', 'bmc');
  t.equal(made.code, 0, made.err);
  const { url } = (await hub.site('bmc')).status?.volume ?? {};
  t.match(await hub.find(hubKinds.dataImages, 'host-1'), { spec: { url } });
  const host = await hub.find(hubKinds.bareMetalHosts, 'host-1');
  t.match(host, {
    metadata: { annotations: { 'reboot.metal3.io': '' } },
    spec: { online: true, externallyProvisioned: true, bmc: { address: 'redfish://192.0.2.1' } },
  });

  await t.test('a node at work is not switched off', async (t) => {
    await hub.report('bmc', { state: 'running' });
    await hub.apply('bmc', { spec: { serial: 2 } }, 'test');
    t.match(await hub.run('deliver', 'bmc'), { code: 1, err: /is at work/ });
    const { metadata } = (await hub.find(hubKinds.bareMetalHosts, 'host-1')) ?? {};
    const { metadata: site } = await hub.site('bmc');
    t.match(metadata?.annotations, { 'fleet.sno-agents.io/rebooted-for': `${site.uid}/1` });
  });

  await t.test('the drive is that of the Site which has it now', async (t) => {
    await hub.apply('bmc', { spec: { action: 'none', serial: 2 } }, 'test');
    await hub.newSite('bmc-2', 'm-bmc', { serial: 3, delivery });
    t.equal((await hub.run('deliver', 'bmc-2')).code, 0);
    t.equal((await hub.run('deliver', 'bmc')).code, 0);
    t.ok(await hub.find(hubKinds.dataImages, 'host-1'));
    await hub.apply('bmc-2', { spec: { action: 'none' } }, 'test');
    t.equal((await hub.run('deliver', 'bmc-2')).code, 0);
    t.equal(await hub.find(hubKinds.dataImages, 'host-1'), undefined);
  });

  await t.test('one that Metal3 provisions is refused', async (t) => {
    await hub.machine('m-metal3');
    await hub.create(hubKinds.bareMetalHosts, {
      apiVersion: 'metal3.io/v1alpha1',
      kind: 'BareMetalHost',
      metadata: { name: 'host-2', namespace: NAMESPACE },
      spec: { image: { url: 'http://x' } },
    });
    const other = { by: 'virtualMedia', bareMetalHost: { name: 'host-2' } };
    await hub.newSite('metal3', 'm-metal3', { delivery: other });
    t.match(await hub.run('deliver', 'metal3'), {
      code: 2,
      err: /host-2 is provisioned by Metal3/,
    });
  });
});

t.test('nothing unfinished is in the published folder', async (t) => {
  t.same(
    readdirSync(hub.published).filter((name) => name.startsWith('.')),
    [],
  );
});
