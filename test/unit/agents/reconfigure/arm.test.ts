/** For how long, how many restarts and which request the host is on trial. */
import t from 'tap';
import { armSite } from '../../../../agents/reconfigure/arm.ts';
import { readTrial } from '../../../../lib/engine/trial/store.ts';
import { laptopAdminCa } from '../../../../lib/render/kubernetes/authorities.ts';
import { kubeletPaths } from '../../../../lib/render/kubernetes/kubelet.ts';
import { distinct, settings } from '../distinct-settings.ts';
import { arrived } from './site-host.ts';

t.test('arm: the trial is that of the request, as long as the settings say', async (t) => {
  const { host, context, request, run, holds } = await arrived(t, { settings });
  // A node without the laptop of its factory.
  host.remove(laptopAdminCa);
  await run(armSite);
  t.match(await readTrial(host.paths), {
    id: request.id,
    what: 'the site configuration 7',
    deadlineMs: distinct('reconfigureTrialMs'),
    bootsCount: distinct('reconfigureBootsCount'),
  });
  const kept = (await readTrial(host.paths))?.points.files.map(({ path }) => path) ?? [];
  for (const path of [laptopAdminCa, kubeletPaths.liveConfig]) {
    t.ok(!host.has(path) && kept.includes(path), `${path} is gone again if the host goes back`);
  }
  t.equal(await holds(armSite), true);
  const next = { ...context, request: { ...request, id: '11111111-1111-4111-8111-111111111111' } };
  t.equal(await armSite.holds(next, host.progress()), false, 'another request has no trial yet');
});
