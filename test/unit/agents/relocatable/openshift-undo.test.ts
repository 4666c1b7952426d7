/** `reconfigure prepare --undo` on OpenShift: when it is refused. */
import t from 'tap';
import { requireUndoable } from '../../../../agents/reconfigure/prepare/openshift/accept.ts';
import { openShiftApi, openShiftHost, prepare } from './openshift-host.ts';

t.test('not taken back while a change or a way back needs the units', async (t) => {
  const host = openShiftHost(t);
  await openShiftApi(t, host);
  await prepare(host);
  host.write('/var/lib/sno-agents/reconfigure/request.json', '{}');
  t.match(await prepare(host, '--undo'), { code: 2 });
  t.ok(host.has('/etc/systemd/system/sno-trial.service'));
  t.ok(host.has('/etc/sno-agents/factory.json'));
});

t.test('nor while the host can go back to what it was before its site', async (t) => {
  const host = openShiftHost(t);
  await openShiftApi(t, host);
  await prepare(host);
  const kept = {
    schemaVersion: 1,
    id: '00000000-0000-4000-8000-000000000000',
    what: 'the site configuration 7',
    armedAt: '2030-01-01T00:00:00Z',
    deadlineMs: 1,
    bootsCount: 1,
    boots: [{ boot: 'a', up: 1 }],
    points: { network: { files: [], folders: [] }, files: [], moved: [] },
    problems: [],
  };
  host.write('/var/lib/sno-agents/reconfigure/before/trial.json', JSON.stringify(kept));
  await t.rejects(requireUndoable(host.context), {
    kind: 'usage',
    message: /the way back from the site configuration 7 is kept.*reconfigure commit/s,
  });
  t.match(await prepare(host, '--undo'), { code: 2 });
  t.ok(host.has('/etc/systemd/system/sno-trial.service'));
});
