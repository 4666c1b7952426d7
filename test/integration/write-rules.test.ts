/** What tests take for an API server (test/unit/clients/kube/fake-api.ts), and a real one: they say the same of each write. */
import { join } from 'node:path';
import t from 'tap';
import { startControlPlane } from '../../lab/servers/control-plane.ts';
import { resources } from '../../lib/clients/kube/resources.ts';
import { startFakeApi } from '../unit/clients/kube/fake-api.ts';
import { RULED_KINDS, saidOfWrites, WIDGETS } from '../unit/clients/kube/write-rules.ts';
import { until } from './deferred-host.ts';

t.test('the same of each write', { timeout: 600_000 }, async (t) => {
  const stop = new AbortController();
  const folder = join(t.testdir(), 'control-plane');
  const controlPlane = await startControlPlane(folder, stop.signal);
  t.teardown(() => controlPlane.stop());
  t.teardown(() => stop.abort());
  using real = await controlPlane.client();
  const limits = { signal: stop.signal, deadlineMs: 30_000 };
  await real.create(resources.customResourceDefinitions, {}, WIDGETS, limits);
  const path = '/apis/rules.test/v1/widgets';
  await until('widgets to be served', async () => (await real.raw(path, limits)).code === 200);
  const { client: fake } = await startFakeApi(t, RULED_KINDS);
  t.strictSame(await saidOfWrites(fake, limits), await saidOfWrites(real, limits));
});
