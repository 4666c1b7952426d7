/** What was accepted is carried out, whatever the clock says later. */
import { mock } from 'node:test';
import t from 'tap';
import { arrive } from '../../../../agents/reconfigure/arrive.ts';
import { reconfigureContext } from '../../../../agents/reconfigure/context.ts';
import { daysMs } from '../../../../lib/pki/lifetimes.ts';
import { factoryHost, insert, SITE } from './site-host.ts';

t.test('a volume that was accepted in time does not expire on its way', async (t) => {
  t.teardown(() => mock.timers.reset());
  const host = await factoryHost(t);
  const validUntil = `${new Date(Date.now() + daysMs(1)).toISOString().slice(0, 19)}Z`;
  await insert(host, { config: `${SITE}validUntil: ${validUntil}\n` });
  t.match(await arrive(host.paths, AbortSignal.timeout(60_000)), { kind: 'request' });
  mock.timers.enable({ apis: ['Date'], now: Date.now() + daysMs(3) });
  const { site, backupTo } = await reconfigureContext(host.paths);
  t.equal(site.clusterName, 'shop');
  t.equal(backupTo, undefined, 'the store of backups stays that of the node');
});
