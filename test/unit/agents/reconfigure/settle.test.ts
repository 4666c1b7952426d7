/** When a host has settled at its site: nothing changes, and only what was seen since the volume and since the boot counts. */
import t, { type Test } from 'tap';
import { settleSite } from '../../../../agents/reconfigure/settle.ts';
import { type Differs, EARLIER, LATER, lease, settling } from '../upkeep/settling-host.ts';
import { arrived } from './site-host.ts';

interface Since {
  /** When the volume was accepted, and when the host has started. */
  readonly accepted?: string;
  readonly boot?: string;
}

async function atSite(t: Test, differs: Differs = {}, { accepted, boot = EARLIER }: Since = {}) {
  const { context: cluster } = await settling(t, differs);
  const it = await arrived(t, { settings: { reconfigureWindowMs: 50 } });
  if (differs.scheduled !== undefined)
    it.host.write('/run/systemd/shutdown/scheduled', differs.scheduled);
  const context = {
    ...it.context,
    request: { ...it.request, at: accepted ?? EARLIER },
    bootTime: async () => new Date(boot),
    withAdministrator: cluster.withAdministrator,
  };
  const run = (signal?: AbortSignal, leftMs?: number) =>
    settleSite.run(context, it.host.progress(signal, leftMs));
  return { ...it, run };
}

t.test('settle: what runs since the volume was accepted, and does not change', async (t) => {
  const it = await atSite(t);
  t.same(await it.run(), { kind: 'done', note: 'nothing changes any more' });
});

const OF_BEFORE = /Lease kube-system\/kube-\S+ has no leader: .*before this boot/;
const MOVING: readonly (readonly [why: string, found: RegExp, differs: Differs, since?: Since])[] =
  [
    ['what ran before the volume came', OF_BEFORE, {}, { accepted: LATER }],
    ['what ran before the host has started', OF_BEFORE, {}, { boot: LATER }],
    ['a scheduled restart', /has a reboot scheduled/, { scheduled: 'MODE=reboot\n' }],
  ];
for (const [why, found, differs, since] of MOVING) {
  t.test(`not settled: ${why}`, async (t) => {
    const it = await atSite(t, differs, since);
    const stop = new AbortController();
    const run = it.run(stop.signal);
    await Promise.race([it.host.said(found), run]);
    stop.abort(new Error('stopped by the test'));
    await t.rejects(run, { message: 'stopped by the test' });
  });
}

t.test('what keeps it from settling until its deadline is why it goes back', async (t) => {
  const it = await atSite(t, { leases: [lease('kube-scheduler')] });
  await t.rejects(it.run(undefined, 500), {
    kind: 'deadline',
    message: /^the host did not settle at its site; expected no change for 0\.05 s; found ./,
  });
});
