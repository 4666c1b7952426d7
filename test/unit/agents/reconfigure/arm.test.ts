/** For how long, how many restarts and which request the host is on trial. */
import t from 'tap';
import { armSite } from '../../../../agents/reconfigure/arm.ts';
import { readTrial } from '../../../../lib/engine/trial/store.ts';
import { distinct, settings } from '../distinct-settings.ts';
import { arrived } from './site-host.ts';

t.test('arm: the trial is that of the request, as long as the settings say', async (t) => {
  const { host, context, request, run, holds } = await arrived(t, { settings });
  await run(armSite);
  t.match(await readTrial(host.paths), {
    id: request.id,
    what: 'the site configuration 7',
    deadlineMs: distinct('reconfigureTrialMs'),
    bootsCount: distinct('reconfigureBootsCount'),
  });
  t.equal(await holds(armSite), true);
  const next = { ...context, request: { ...request, id: '11111111-1111-4111-8111-111111111111' } };
  t.equal(await armSite.holds(next, host.progress()), false, 'another request has no trial yet');
});
