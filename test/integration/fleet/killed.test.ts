/** `sno fleet site` is killed after each of its writes to the hub, and run again: one administrator, one ISO, one start. */
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { hubKinds } from '../../../cli/fleet/worker/kinds.ts';
import { resourcePath } from '../../../lib/clients/kube/resources.ts';
import { sha256 } from '../../../lib/host/files.ts';
import { sno } from '../../unit/cli/run-sno.ts';
import { skipWithout } from '../media/images.ts';
import { limits, NAMESPACE, startHub } from './hub.ts';
import { startKillingProxy } from './killing-proxy.ts';

const skip = await skipWithout('xorriso', 'ssh-keygen');
const REBOOT = 'reboot.metal3.io';
/** More would be a loop. */
const MOST_WRITES = 30;

t.test('killed after any write', { skip }, async (t) => {
  const hub = await startHub(t);
  const proxy = await startKillingProxy(hub);
  t.teardown(() => proxy.stop());

  /** Metal3 has switched the host on. */
  async function hostStarted(name: string): Promise<boolean> {
    const host = await hub.find(hubKinds.bareMetalHosts, name);
    if (host?.metadata.annotations?.[REBOOT] === undefined) return false;
    const path = resourcePath(hubKinds.bareMetalHosts, { namespace: NAMESPACE, name });
    const body = { metadata: { annotations: { [REBOOT]: null } } };
    const contentType = 'application/merge-patch+json';
    await hub.client.json({ method: 'PATCH', path, body, contentType }, limits);
    return true;
  }

  const keys = async (name: string) => (await hub.find(hubKinds.secrets, `${name}-auth`))?.data;
  const isosIn = (folder: string) =>
    readdirSync(folder).map((name) => ({ name, sha256: sha256(readFileSync(join(folder, name))) }));

  let writes = 1;
  for (; writes < MOST_WRITES; writes++) {
    const name = `killed-${writes}`;
    const folder = join(hub.root, name);
    mkdirSync(folder);
    await hub.machine(name);
    await hub.create(hubKinds.bareMetalHosts, {
      apiVersion: 'metal3.io/v1alpha1',
      kind: 'BareMetalHost',
      metadata: { name, namespace: NAMESPACE },
      spec: { online: false },
    });
    const delivery = { by: 'virtualMedia', bareMetalHost: { name } };
    await hub.newSite(name, name, { delivery });
    const args = ['fleet', 'site', ...hub.options('deliver', folder), name];
    const code = await proxy.run(args, writes);
    if (code !== undefined) {
      t.equal(code, 0);
      break;
    }
    const keysBefore = await keys(name);
    const shown = isosIn(folder).filter((each) => !each.name.startsWith('.'));
    const hasStarted = await hostStarted(name);
    const again = await sno(args, { PATH: process.env.PATH ?? '' });
    t.equal(again.code, 0, `after ${writes} writes: ${again.err}`);
    const after = await keys(name);
    for (const key of ['kubeconfig', 'serving-ca.key', 'report-to.json']) {
      t.equal(keysBefore?.[key] ?? after?.[key], after?.[key], `after ${writes} writes: ${key}`);
    }
    const { status } = await hub.site(name);
    const isos = isosIn(folder);
    t.match(isos, [{ sha256: status?.volume?.sha256 }], `after ${writes} writes: one ISO`);
    if (shown.length > 0) t.same(isos, shown, `after ${writes} writes: the same ISO`);
    t.not(await hostStarted(name), hasStarted, `after ${writes} writes: one start`);
    t.match(await hub.condition(name, 'Delivered'), { status: 'True' });
  }
  t.ok(writes > 8 && writes < MOST_WRITES, `${writes} writes`);
});
