/** As killed.test.ts, for an installation: one administrator, one config, one ISO, one boot. */
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { hubKinds } from '../../../cli/fleet/worker/kinds.ts';
import { resources } from '../../../lib/clients/kube/resources.ts';
import { sno } from '../../unit/cli/run-sno.ts';
import { at, embedded, makeInputs, payload, share, skip } from '../shared-iso-folder.ts';
import { NAMESPACE, startHub } from './hub.ts';
import { startKillingProxy } from './killing-proxy.ts';

/** More would be a loop. */
const MOST_WRITES = 20;
const TEMPLATE = `apiVersion: v1
baseDomain: example.com
metadata: {name: "\${name}"}
compute: [{name: worker, replicas: 0}]
controlPlane: {name: master, replicas: 1}
platform: {none: {}}
bootstrapInPlace: {installationDisk: /dev/vda}
pullSecret: '{"auths":{"fake":{"auth":"aWQ6cGFzcwo="}}}'
`;

t.test('an installation that is killed after any write', { skip }, async (t) => {
  await makeInputs();
  await share('shared.iso', ...payload());
  const hub = await startHub(t);
  await hub.create(resources.configMaps, {
    metadata: { name: 'new-shop' },
    data: { 'install-config.yaml': TEMPLATE },
  });
  const proxy = await startKillingProxy(hub);
  t.teardown(() => proxy.stop());
  const keys = async (name: string) => (await hub.find(hubKinds.secrets, `${name}-auth`))?.data;
  const shown = (folder: string) => readdirSync(folder).filter((name) => !name.startsWith('.'));
  const imageOf = async (name: string) => {
    const { spec } = (await hub.find(hubKinds.bareMetalHosts, name)) ?? {};
    return spec?.image?.url;
  };

  let writes = 1;
  for (; writes < MOST_WRITES; writes++) {
    const name = `killed-${writes}`;
    const folder = join(hub.root, name);
    mkdirSync(folder);
    await hub.create(hubKinds.bareMetalHosts, {
      apiVersion: 'metal3.io/v1alpha1',
      kind: 'BareMetalHost',
      metadata: { name, namespace: NAMESPACE },
      spec: { online: false },
    });
    await hub.newSite(name, name, {
      ...{ action: 'install', templateRef: { name: 'new-shop' }, values: { name } },
      ...{ hostFactsRef: undefined, delivery: { by: 'virtualMedia', bareMetalHost: { name } } },
    });
    const shared = ['--shared', at('shared.iso')];
    const args = ['fleet', 'site', ...hub.options('deliver', folder), name, ...shared];
    const code = await proxy.run(args, writes);
    if (code !== undefined) {
      t.equal(code, 0);
      break;
    }
    const keysBefore = await keys(name);
    const isosBefore = shown(folder);
    const booted = await imageOf(name);
    const again = await sno(args, { PATH: process.env.PATH ?? '' });
    t.equal(again.code, 0, `after ${writes} writes: ${again.err}`);
    const after = await keys(name);
    for (const key of ['kubeconfig', 'live.ign.gz', 'report-to.json', 'metadata.json']) {
      t.ok(after?.[key], key);
      t.equal(keysBefore?.[key] ?? after?.[key], after?.[key], `after ${writes} writes: ${key}`);
    }
    const isos = readdirSync(folder);
    t.equal(isos.length, 1, `after ${writes} writes: one ISO, and nothing unfinished`);
    if (isosBefore.length > 0) t.same(isos, isosBefore, `after ${writes} writes: the same ISO`);
    t.match(await embedded(join(folder, isos[0] ?? '')), /^\{/);
    const image = await imageOf(name);
    t.match(image, isos[0]);
    if (booted !== undefined) t.equal(image, booted, `after ${writes} writes: the same boot`);
    t.match(await hub.condition(name, 'Delivered'), { status: 'True' });
  }
  t.ok(writes > 8 && writes < MOST_WRITES, `${writes} writes`);
});
