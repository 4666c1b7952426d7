import { existsSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { z } from 'zod';
import { startControlPlane } from '../../lab/servers/control-plane.ts';
import { EXIT } from '../../lib/base/errors/exit-codes.ts';
import { appliesIn, minorOf } from '../../lib/base/minor.ts';
import { builtInGroups, LATER_GROUPS } from '../../lib/clients/kube/built-in-groups.ts';
import { isKubeError } from '../../lib/clients/kube/kube-error.ts';
import { objectSchema, resources } from '../../lib/clients/kube/resources.ts';
import {
  deferredRole,
  deferredStatus,
  deferredUser,
  roleDependents,
} from '../../lib/clients/rights/deferred.ts';
import { deferredFolder } from '../../lib/cluster/deferred/manifests.ts';
import { installedHost, rbac, resource, UNIT, until } from './deferred-host.ts';

const { signal } = new AbortController();
const limits = { signal, deadlineMs: 10_000 };
const controlPlane = await startControlPlane(join(t.testdir(), 'control-plane'), signal);
t.teardown(() => controlPlane.stop());
const admin = await controlPlane.client();
t.teardown(() => admin[Symbol.dispose]());
const host = (t: Test, objects: readonly object[], completed?: Date) =>
  installedHost({ controlPlane, admin, root: t.testdir() }, objects, completed);

const till = (group: string, name: string, more: object = {}) => ({
  apiVersion: `${group}/v1`,
  kind: 'Till',
  metadata: { name, ...more },
  spec: { drawers: 2 },
});

const definition = (group: string) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `tills.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural: 'tills', kind: 'Till' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: { type: 'object', properties: { drawers: { type: 'integer', maximum: 4 } } },
            },
          },
        },
      },
    ],
  },
});

const entries = async () =>
  (await admin.get(resources.configMaps, deferredStatus, limits)).data ?? {};

const create = (object: object) =>
  admin.create(resources.customResourceDefinitions, {}, object, limits);
const tills = (group: string) => resource(`${group}/v1`, 'tills');

t.test('the table of built-in groups matches the server', async (t) => {
  const list = z.looseObject({ groups: z.array(z.looseObject({ name: z.string() })) });
  const { groups } = list.parse(await admin.json({ method: 'GET', path: '/apis' }, limits));
  // Those defined by other tests on the same server are excluded.
  const served = groups.map(({ name }) => name).filter((name) => !name.endsWith('.test'));
  const { gitVersion } = z
    .looseObject({ gitVersion: z.string() })
    .parse(await admin.json({ method: 'GET', path: '/version' }, limits));
  const minor = minorOf(gitVersion) ?? '0.0';
  const expected = [...builtInGroups].filter((group) => {
    const since = LATER_GROUPS.get(group);
    return since === undefined || appliesIn(minor, { since });
  });
  t.same(['', ...served].toSorted(), expected.toSorted(), gitVersion);
});

t.test(
  'applied soon after its definition is created, even after kill -9; then nothing is left',
  async (t) => {
    const group = 'later.test';
    const { paths, run } = await host(t, [till(group, 'front'), till(group, 'back')]);
    const killed = run('run');
    await until('the first look', async () =>
      /^waiting for Till/.test((await entries())['0002.till.back'] ?? ''),
    );
    killed.kill('SIGKILL');
    await killed;
    const running = run('run');
    await until('the second start', async () =>
      (await run('status')).stdout.includes('waiting for deferred manifests, until 20'),
    );
    await create(definition(group));
    const began = performance.now();
    const ended = await running;
    t.equal(ended.exitCode, EXIT.done, ended.all);
    t.ok(performance.now() - began < 10_000, 'soon after');
    const found = await admin.get(tills(group), { namespace: 'default', name: 'front' }, limits);
    t.match(found, { spec: { drawers: 2 } });
    t.match(await entries(), { '0001.till.front': /^applied 20/, '0002.till.back': /^applied 20/ });

    t.notOk(await admin.find(rbac('clusterroles'), { name: deferredUser }, limits));
    const owner = { kind: 'ClusterRole', name: deferredRole.name };
    for (const { place, ...dependent } of roleDependents) {
      const object = await admin.get({ ...dependent, schema: objectSchema }, place, limits);
      t.match(object.metadata, { ownerReferences: [owner] }, `${dependent.plural} go with it`);
    }
    t.same(await readdir(paths.config), ['cluster.json']);
    t.same((await readdir(paths.state)).toSorted(), ['bin', 'record.json']);
    t.same(await readdir(paths.binaries), []);
    t.notOk(existsSync(paths.at(UNIT)));
    // As after a kill between the last removals: it finds nothing to do and succeeds.
    await writeFile(paths.at(UNIT), '');
    t.equal((await run('run')).exitCode, EXIT.done);
  },
);

t.test('a rejected object, an existing one, one whose namespace is missing', async (t) => {
  const group = 'mixed.test';
  const elsewhere = { namespace: 'elsewhere' };
  const { paths, run } = await host(t, [
    { ...till(group, 'large'), spec: { drawers: 5 } },
    till(group, 'there'),
    till(group, 'away', elsewhere),
  ]);
  await create(definition(group));
  const there = { ...till(group, 'there'), spec: { drawers: 1 } };
  await until('the kind', async () => {
    try {
      await admin.create(tills(group), { namespace: 'default' }, there, limits);
      return true;
    } catch (error) {
      if (isKubeError(error, 'not-found')) return false;
      throw error;
    }
  });
  const running = run('run');
  await until('the first round', async () =>
    /^waiting: .*namespaces "elsewhere" not found/.test(
      (await entries())['0003.till.elsewhere.away'] ?? '',
    ),
  );
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'elsewhere' } };
  await admin.create(resource('v1', 'namespaces'), {}, namespace, limits);
  const ended = await running;
  t.equal(ended.exitCode, EXIT.fatal, ended.all);
  t.match(ended.all, /1 deferred manifest was rejected; found Till large rejected: .*422.*drawers/);
  t.match(await entries(), {
    '0001.till.large': /^rejected: .*422.*drawers/,
    '0002.till.there': /^applied 20.*, it existed already$/,
    '0003.till.elsewhere.away': /^applied 20/,
  });
  const kept = await admin.get(tills(group), { namespace: 'default', name: 'there' }, limits);
  t.match(kept, { spec: { drawers: 1 } }, 'what exists is left as it is');
  t.same(await readdir(deferredFolder(paths)), ['0001.till.large.json'], 'only what is open');
  t.ok(existsSync(paths.at(UNIT)));

  // An applied object that was deleted since is not created again: the next run has only the other one.
  await admin.remove(tills(group), { namespace: 'elsewhere', name: 'away' }, limits);
  await writeFile(
    join(deferredFolder(paths), '0001.till.large.json'),
    JSON.stringify(till(group, 'large')),
  );
  t.equal((await run('run')).exitCode, EXIT.done);
  t.notOk(await admin.find(tills(group), { namespace: 'elsewhere', name: 'away' }, limits));
});

t.test('waits for an API server that restarts', async (t) => {
  const group = 'restart.test';
  const { run } = await host(t, [till(group, 'front')]);
  const running = run('run');
  await until('the first look', async () =>
    /^waiting/.test((await entries())['0001.till.front'] ?? ''),
  );
  await controlPlane.stopApiServer();
  await controlPlane.startApiServer();
  await create(definition(group));
  const ended = await running;
  t.equal(ended.exitCode, EXIT.done, ended.all);
  t.match(await entries(), { '0001.till.front': /^applied/ });
});

t.test('a deleted status, or a revoked right to it, blocks nothing', async (t) => {
  const group = 'unwritten.test';
  await create(definition(group));
  const system = { namespace: deferredStatus.namespace };
  for (const [what, name, place] of [
    [resources.configMaps, 'map', deferredStatus],
    [rbac('rolebindings'), 'right', { ...system, name: deferredUser }],
  ] as const) {
    const { run } = await host(t, [till(group, name)]);
    await admin.remove(what, place, limits);
    const ended = await run('run');
    t.equal(ended.exitCode, EXIT.done, ended.all);
    t.match(ended.all, /The status ConfigMap cannot be written: /);
    t.ok(await admin.find(tills(group), { namespace: 'default', name }, limits));
  }
});

t.test('at the expiry, reports what was not applied and what to do', async (t) => {
  const group = 'expired.test';
  const weekAgo = new Date(Date.now() - 168 * 3_600_000 - 1000);
  const { paths, run } = await host(t, [till(group, 'front')], weekAgo);
  const ended = await run('run');
  t.equal(ended.exitCode, EXIT.deadline, ended.all);
  t.match(ended.all, /1 deferred manifest was not applied by 20.*--expires-in-hours 24/);
  t.match(await entries(), { '0001.till.front': /^expired 20.*, waiting/ });
  t.equal((await readdir(deferredFolder(paths))).length, 1);
  t.ok(existsSync(join(paths.config, 'deferred.kubeconfig')));

  t.equal((await run('run', '--expires-in-hours', '1000')).exitCode, EXIT.usage);
  await create(definition(group));
  const again = await run('run', '--expires-in-hours', '1');
  t.equal(again.exitCode, EXIT.done, again.all);
  t.match(await entries(), { '0001.till.front': /^applied/ });
});

t.test('ends at its expiry while waiting', async (t) => {
  const { run } = await host(t, [till('never.test', 'front')]);
  const ended = await run('run', '--expires-in-hours', String(3 / 3600));
  t.equal(ended.exitCode, EXIT.deadline, ended.all);
  t.match(await entries(), {
    '0001.till.front': /^expired 20.*, waiting for Till in never\.test\/v1 to be served$/,
  });
});
