import t from 'tap';
import { restoreContext } from '../../../../agents/steps/restore/context.ts';
import { restoreChange } from '../../../../lib/change/restore/request.ts';
import { isApiReady } from '../../../../lib/clients/kube/api-ready.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';
import { rendered, servingPair } from '../../render/rendered-host.ts';
import { cluster } from '../host/cluster.ts';
import { testHost } from '../host/host.ts';
import { apiOf } from '../upkeep/earlier-authority.ts';
import { NAME, restoringHost } from './backup-host.ts';

t.test('a restore is of what was requested, and only what happened since counts', async (t) => {
  const { host } = await restoringHost(t);
  host.write('/etc/sno-agents/cluster.json', JSON.stringify(cluster));
  const { signal } = new AbortController();
  const since = async (requestedAt: string) => {
    await restoreChange.write(host.paths, { schemaVersion: 1, backup: NAME, requestedAt });
    const { request, bootTime } = await restoreContext(host.paths);
    t.strictSame(request, { backup: NAME, requestedAt });
    return bootTime(signal);
  };
  // The monotonic clock has begun with this machine.
  const long = new Date(Date.now() + 86_400_000).toISOString();
  t.equal((await since(long)).toISOString(), long, 'since the request');
  const booted = (await since('2000-01-01T00:00:00.000Z')).getTime();
  t.ok(booted > Date.parse('2000-01-02') && booted <= Date.now(), 'since the boot');
  await restoreChange.end(host.paths, (it) => it);
  t.match(await thrownBy(restoreContext(host.paths)), {
    kind: 'usage',
    message: /no restore is under way.*sno-backup restore --from NAME/,
  });
});

t.test('a restore has the rights of a moment: those of the installation are deleted', async (t) => {
  const { url: api } = await apiOf(t, servingPair, { 'GET /readyz': {} });
  const host = testHost(t, { endpoints: { api } });
  for (const { path, contents, mode } of rendered.files)
    if (/\/pki\/ca\/(admin|serving)\//.test(path)) host.write(path, contents, mode);
  host.write('/etc/sno-agents/cluster.json', JSON.stringify(cluster));
  const request = { backup: NAME, requestedAt: '2030-01-01T00:00:00.000Z' };
  await restoreChange.write(host.paths, { schemaVersion: 1, ...request });
  const { withAdministrator } = await restoreContext(host.paths);
  const { signal } = new AbortController();
  t.ok(await withAdministrator(host.progress(), (client) => isApiReady(client, signal)));
});
