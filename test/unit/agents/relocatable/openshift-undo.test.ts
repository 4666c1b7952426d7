/** `reconfigure prepare` on OpenShift: when `--undo` is refused, and how long the API is waited for. */
import t from 'tap';
import { requireUndoable } from '../../../../agents/reconfigure/prepare/openshift/accept.ts';
import { relocatableFiles } from '../../../../lib/relocation/relocatable/machine-config.ts';
import { stopClock } from '../../clients/kube/stopped-clock.ts';
import type { TestHost } from '../host/host.ts';
import { NODE, openShiftApi, openShiftHost, prepare } from './openshift-host.ts';
import { prepareSaying } from './openshift-refused.ts';

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

const POOL = '/apis/machineconfiguration.openshift.io/v1/machineconfigpools/master';
const INFRASTRUCTURE = '/apis/config.openshift.io/v1/infrastructures/cluster';
const undescribed = (host: TestHost) => host.remove('/etc/sno-agents/cluster.json');
const unprepared = (host: TestHost) => {
  for (const { path } of relocatableFiles(NODE)) host.remove(path);
};

for (const [what, args, path, change] of [
  ['a cluster is described', [], INFRASTRUCTURE, undescribed],
  ['it is described to be taken back', ['--undo'], INFRASTRUCTURE, undescribed],
  ['a node is judged', [], '/api/v1/nodes', () => undefined],
  ['its pool is judged', [], POOL, () => undefined],
  ['one without the MachineConfig is judged', [], POOL, unprepared],
] as const) {
  t.test(`the command ends with its deadline while ${what}`, async (t) => {
    const host = openShiftHost(t);
    change(host);
    host.write('/etc/sno-agents/settings.json', JSON.stringify({ relocatableMs: 5_000 }));
    const clock = stopClock(t);
    const hangs = () => {
      clock.pass(5_000);
      return new Promise<object>(() => {});
    };
    await openShiftApi(t, host, {}, { [`GET ${path}`]: hangs });
    t.match(await prepareSaying(host, ...args), { code: 1, text: 'deadline exceeded' });
  });
}
