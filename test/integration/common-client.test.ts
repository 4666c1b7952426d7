/** Why the agents have a client of their own beside the common one, @kubernetes/client-node (lib/clients/README.md). */
import { cp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { CoreV1Api, KubeConfig, makeInformer } from '@kubernetes/client-node';
import t from 'tap';
import { startControlPlane } from '../../lab/servers/control-plane.ts';
import { resources } from '../../lib/clients/kube/resources.ts';
import { watchUntil } from '../../lib/clients/kube/watch-objects.ts';

const { signal } = new AbortController();
const controlPlane = await startControlPlane(join(t.testdir(), 'control-plane'), signal);
t.teardown(() => controlPlane.stop());
const client = await controlPlane.client();
t.teardown(() => client[Symbol.dispose]());
const place = { namespace: 'default' };
const limits = { signal, deadlineMs: 30_000 };
const create = (name: string) =>
  client.create(
    resources.configMaps,
    place,
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } },
    limits,
  );

/** Until our own watch has all of `names` and no other that begins with one of theirs. */
const seen = (names: readonly string[], gone: readonly string[]) =>
  watchUntil(
    client,
    resources.configMaps,
    place,
    (objects) => {
      const has = (name: string) => objects.has(`default/${name}`);
      return names.every(has) && !gone.some(has) ? true : undefined;
    },
    {
      signal,
      deadlineMs: 60_000,
      what: `${names.join(', ')} without ${gone.join(', ')}`,
      describe: (objects) => [...objects.keys()].join(', '),
      report: () => {},
    },
  );

const config = new KubeConfig();
config.loadFromString(
  await controlPlane.kubeconfig({ name: 'test-admin', groups: ['system:masters'] }),
);
const api = config.makeApiClient(CoreV1Api);

/** Started again after each error, as its documentation advises. */
async function startInformer() {
  const informer = makeInformer(config, '/api/v1/namespaces/default/configmaps', () =>
    api.listNamespacedConfigMap({ namespace: 'default' }),
  );
  let isOver = false;
  informer.on('error', () => {
    setTimeout(() => {
      if (!isOver) void informer.start();
    }, 500);
  });
  t.teardown(async () => {
    isOver = true;
    await informer.stop();
  });
  /** Until it has an object of that name. */
  const added = (name: string) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const late = setTimeout(() => reject(new Error(`the informer did not see ${name}`)), 60_000);
    informer.on('add', ({ metadata }) => {
      if (metadata?.name === name) resolve();
    });
    return promise.finally(() => clearTimeout(late));
  };
  await informer.start();
  const listed = () => informer.list().flatMap(({ metadata }) => metadata?.name ?? []);
  return { added, listed };
}

t.test('what its models lack is not sent, and nobody hears of it', async (t) => {
  const body = { metadata: { name: 'newer' }, data: {}, fieldOfTheNextRelease: true };
  const created = await api.createNamespacedConfigMap({
    namespace: 'default',
    body,
    fieldValidation: 'Strict',
  });
  t.equal(created.metadata?.name, 'newer', 'the API server was not asked about the field');
  const checked = { fieldValidation: 'Strict', warned: () => {} } as const;
  await t.rejects(
    client.create(
      resources.configMaps,
      place,
      { ...body, metadata: { name: 'ours' } },
      limits,
      checked,
    ),
    /fieldOfTheNextRelease/,
  );
});

/*
 * A restore brings back an older database, whose revisions are lower than those that a client has seen.
 */
t.test('after a restore our watch sees the older database and what comes then', async (t) => {
  await create('kept');
  const copy = join(t.testdir(), 'copy');
  await controlPlane.whileStopped((data) => cp(data, copy, { recursive: true }));
  const { added, listed } = await startInformer();
  const informed = added('gone');
  const ours = seen(['kept', 'later'], ['gone']);
  for (let count = 0; count < 50; count += 1) await create(`gone-${count}`);
  await create('gone');
  await seen(['gone'], []);
  await informed;
  await controlPlane.whileStopped(async (data) => {
    await rm(data, { recursive: true });
    await rename(copy, data);
  });
  await create('later');
  t.equal(await ours, true);
  t.ok(listed().includes('gone'), 'the informer of the common client keeps what is gone');
  t.notOk(listed().includes('later'), 'and does not see what is new');
});
