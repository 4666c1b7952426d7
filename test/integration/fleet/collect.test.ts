/** `sno fleet site --phase collect` against a real API server; what the node says is written as by a node. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { hubKinds } from '../../../cli/fleet/worker/kinds.ts';
import { skipWithout } from '../media/images.ts';
import { NAMESPACE, startHub, type TestHub } from './hub.ts';

const skip = await skipWithout('xorriso', 'ssh-keygen');

async function delivered(t: Test, hub: TestHub, name: string, spec: object = {}) {
  await hub.machine(name);
  await hub.newSite(name, name, spec);
  const run = await hub.run('deliver', name);
  t.equal(run.code, 0, run.err);
}

t.test('what becomes of a Site', { skip }, async (t) => {
  const hub = await startHub(t);

  await t.test('done: the kubeconfig is kept, and the volume taken away', async (t) => {
    await hub.create(hubKinds.bareMetalHosts, {
      apiVersion: 'metal3.io/v1alpha1',
      kind: 'BareMetalHost',
      metadata: { name: 'host', namespace: NAMESPACE },
      spec: {},
    });
    const delivery = { by: 'virtualMedia', bareMetalHost: { name: 'host' } };
    await delivered(t, hub, 'done', { delivery });
    const since = new Date().toISOString();
    const step = { agent: 'reconfigure', name: 'network', number: 4, of: 14, since };
    const { data: keys } = (await hub.find(hubKinds.secrets, 'done-auth')) ?? {};
    await hub.report('done', { state: 'running', step });
    const collecting = hub.run('collect', 'done', '--deadline', '30s');
    await hub.report('done', { state: 'done' });
    const { code, out, err } = await collecting;
    t.equal(code, 0, err);
    t.match(out, /done: the node is the node of its site$/);
    const secret = await hub.find(hubKinds.secrets, 'done-admin-kubeconfig');
    t.match(secret?.metadata.labels, { 'hive.openshift.io/secret-type': 'kubeconfig' });
    t.same(secret?.data, { kubeconfig: keys?.kubeconfig });
    t.equal(await hub.find(hubKinds.dataImages, 'host'), undefined);
    t.same(readdirSync(hub.published), []);
    t.equal((await hub.run('collect', 'done', '--deadline', '30s')).code, 0, 'again');
  });

  await t.test('failed: its code and what to do, with exit code 4; the volume stays', async (t) => {
    await delivered(t, hub, 'failed');
    const what = 'no link on eno1';
    await hub.report('failed', { state: 'takenBack', code: 'site-link', what, fix: 'Plug it in.' });
    const run = await hub.run('collect', 'failed', '--deadline', '30s');
    t.match(run, {
      code: 4,
      err: /the node of the Site failed has failed, and is as it was before: no link on eno1; found site-link\. Plug it in\./,
    });
    t.equal(readdirSync(hub.published).length, 1);
    t.equal(await hub.find(hubKinds.secrets, 'failed-admin-kubeconfig'), undefined);
  });

  await t.test('what it said of another serial counts for nothing', async (t) => {
    await delivered(t, hub, 'silent');
    await hub.report('silent', { state: 'done', serial: 7 });
    const run = await hub.run('collect', 'silent', '--deadline', '1s');
    t.match(run, { code: 3, err: /waited 1s for the node of the Site silent to report/ });
    t.match(await hub.condition('silent', 'Completed'), { status: 'Unknown', reason: 'NoReport' });
    t.match(await hub.condition('silent', 'Delivered'), { status: 'True' }, 'is as it was');
  });

  await t.test('a Site that was not delivered is not waited for', async (t) => {
    await hub.machine('early');
    await hub.newSite('early', 'early');
    t.match(await hub.run('collect', 'early'), { code: 2, err: /nothing was delivered/ });
  });

  await t.test(
    'an update is named, and its end is that of the run which asked for it',
    async (t) => {
      await delivered(t, hub, 'updated');
      await hub.report('updated', { state: 'done' });
      t.equal((await hub.run('collect', 'updated', '--deadline', '30s')).code, 0);
      const update = { url: 'https://updates.example.com/1', serial: 170 };
      const wants = (serial: number) =>
        hub.apply('updated', { spec: { action: 'update', serial, update } }, 'test');
      await wants(1);
      t.match(await hub.run('deliver', 'updated'), {
        code: 2,
        err: /the serial 1 was that of the action relocate/,
      });
      await wants(2);
      const keys = await hub.find(hubKinds.secrets, 'updated-auth');
      t.match(await hub.run('deliver', 'updated'), { code: 0, out: /hears of the update/ });
      t.match((await hub.site('updated')).status?.volume, {
        ...{ action: 'update', serial: 2, url: update.url },
      });
      t.match(await hub.condition('updated', 'Completed'), {
        status: 'False',
        reason: 'NotReported',
      });
      t.same(await hub.find(hubKinds.secrets, 'updated-auth'), keys, 'it has the keys that it had');

      const of = { change: 'update', serial: 170 } as const;
      await hub.report('updated', { ...of, state: 'done', asked: 1 });
      t.equal((await hub.run('collect', 'updated', '--deadline', '1s')).code, 3);
      await hub.report('updated', {
        ...of,
        state: 'takenBack',
        asked: 2,
        code: 'not-steady',
        what: 'x',
      });
      const failed = await hub.run('collect', 'updated', '--deadline', '30s');
      t.match(failed, { code: 4, err: /has failed, and is as it was before: x; found not-steady/ });
      t.match(await hub.condition('updated', 'Failed'), { status: 'True', reason: 'not-steady' });
      await hub.report('updated', { ...of, state: 'done', asked: 2 });
      const { code, out } = await hub.run('collect', 'updated', '--deadline', '30s');
      t.equal(code, 0);
      t.match(out, /updated: the node runs the update$/);
    },
  );

  await t.test('the node takes over what the worker has reset', async (t) => {
    await delivered(t, hub, 'taken-over');
    await hub.report('taken-over', { state: 'done' });
    t.match(await hub.condition('taken-over', 'Completed'), { status: 'True' });
    t.equal((await hub.run('collect', 'taken-over', '--deadline', '30s')).code, 0);
    t.match(await hub.condition('taken-over', 'Completed'), { status: 'True' });
    const iso = readdirSync(hub.published).filter((name) =>
      readFileSync(join(hub.published, name)).includes('taken-over'),
    );
    t.same(iso, []);
  });
});
