/** sno-update: what is staged, what the new executable says, what is replaced, and how it ends. */
import { rmSync } from 'node:fs';
import t, { type Test } from 'tap';
import { armUpdate } from '../../../../agents/upkeep/update/arm.ts';
import { concludeUpdate } from '../../../../agents/upkeep/update/conclude.ts';
import { confirmUpdate } from '../../../../agents/upkeep/update/confirm.ts';
import type { UpdateContext } from '../../../../agents/upkeep/update/context.ts';
import { runUpdate } from '../../../../agents/upkeep/update/main.ts';
import { updateOrBack } from '../../../../agents/upkeep/update/or-back.ts';
import { prepare } from '../../../../agents/upkeep/update/prepare.ts';
import { stageUpdate } from '../../../../agents/upkeep/update/stage.ts';
import { switchOver } from '../../../../agents/upkeep/update/switch.ts';
import { Failure } from '../../../../lib/base/errors/failure.ts';
import type { ChangeStep } from '../../../../lib/change/or-back.ts';
import { updateChange } from '../../../../lib/change/update/request.ts';
import { readTaken } from '../../../../lib/change/update/taken.ts';
import { lockAgent } from '../../../../lib/engine/steps/lock.ts';
import { done } from '../../../../lib/engine/steps/step.ts';
import { recordReverting } from '../../../../lib/engine/trial/store.ts';
import { killedAtAnyMoment } from '../../engine/steps/killed-at-any-moment.ts';
import { refuse } from '../host/api.ts';
import { writePayload } from '../host/payload.ts';
import {
  EXECUTABLE,
  ID,
  NEW_UNIT,
  PAYLOAD,
  PREPARED,
  program,
  SCHEDULER,
  SOURCE,
  STATE,
  TRIAL,
  updating,
} from './updating-host.ts';

const PROFILES = '/etc/NetworkManager/system-connections';

type Updating = Awaited<ReturnType<typeof updating>>;

async function upTo({ run }: Updating, ...steps: readonly ChangeStep<UpdateContext>[]) {
  for (const step of steps) await run(step);
}

t.test('stage puts executable and payload beside those in use', async (t) => {
  const it = await updating(t);
  t.notOk(await it.holds(stageUpdate));
  t.same(await it.run(stageUpdate), { kind: 'done', note: 'the executable and the payload' });
  t.ok(await it.holds(stageUpdate));
  t.equal(it.host.mode(`${STATE}/next/sno-agents`), 0o755);
  t.equal(it.host.mode(`${STATE}/next`), 0o700);
  t.equal(it.host.read(`${STATE}/next/payload/bin/kubelet`), 'the new kubelet');
  t.equal(it.host.read(EXECUTABLE), 'the old executable', 'nothing has changed');
  it.host.remove(SOURCE);
  await it.run(stageUpdate);
  t.ok(await it.holds(stageUpdate), 'a second time it needs no source');
});

t.test('the same payload is not copied', async (t) => {
  const it = await updating(t);
  it.host.remove(PAYLOAD);
  writePayload(it.host, PAYLOAD, 'the new kubelet');
  const { manifest } = it.context.request;
  const large = { ...manifest, payload: { ...manifest.payload, size: 2 ** 50 } };
  const context = { ...it.context, request: { ...it.context.request, manifest: large } };
  const staged = await stageUpdate.run(context, it.host.progress());
  t.match(staged, { note: /payload is the same/ }, 'nor does it need room');
  t.notOk(it.host.has(`${STATE}/next/payload`));
  t.ok(await it.holds(stageUpdate));
  await upTo(it, prepare, armUpdate, switchOver);
  t.ok(await it.holds(switchOver));
});

const DAMAGED: readonly (readonly [file: string, message: RegExp])[] = [
  ['sno-agents', /next\/sno-agents is not the file of the signed manifest/],
  ['payload/payload.yaml', /payload\.yaml/],
  ['payload/bin/kubelet', /damaged/],
];
for (const [file, message] of DAMAGED) {
  t.test(`stage refuses another ${file}`, async (t) => {
    const it = await updating(t);
    const other = it.host.read(`${SOURCE}/${file}`).replace(/e/g, 'o');
    it.host.write(`${SOURCE}/${file}`, other);
    await t.rejects(it.run(stageUpdate), { kind: 'fatal', message });
    t.notOk(await it.holds(stageUpdate));
  });
}

const UNREADY: readonly (readonly [answer: ReturnType<typeof refuse>, reason: RegExp])[] = [
  [refuse(500), /readyz returned 500/],
  // With a wrong clock it does not accept what the host signs.
  [refuse(401), /readyz returned 401/],
];
for (const [answer, reason] of UNREADY) {
  t.test(`stage waits for the API server: ${reason.source}`, async (t) => {
    const it = await updating(t, { readyz: () => answer });
    t.match(await it.run(stageUpdate), { kind: 'not-yet', reason });
    t.notOk(it.host.has(`${STATE}/next`), 'nothing is fetched before');
  });
}

t.test('stage waits for the end of a backup and needs room', async (t) => {
  const it = await updating(t);
  const lock = await lockAgent('sno-backup', it.host.root);
  t.same(await it.run(stageUpdate), { kind: 'not-yet', reason: 'sno-backup is running' });
  lock[Symbol.dispose]();
  t.notOk(it.host.has(`${STATE}/next`), 'nothing is fetched before');
  const { manifest } = it.context.request;
  const large = { ...manifest, payload: { ...manifest.payload, size: 2 ** 50 } };
  const context = { ...it.context, request: { ...it.context.request, manifest: large } };
  await t.rejects(stageUpdate.run(context, it.host.progress()), {
    kind: 'fatal',
    code: 'disk-full',
    message: /no room for the update.*Nothing was changed/,
  });
});

t.test('the new executable is asked before anything changes', async (t) => {
  const it = await updating(t);
  await it.run(stageUpdate);
  t.same(await it.run(prepare), { kind: 'done', note: '2 files and 0 add-ons change' });
  t.ok(await it.holds(prepare));
  t.equal(it.host.mode(`${STATE}/prepared.json`), 0o600);
});

const FINAL = { kind: 'fatal', code: 'update-refused' } as const;
const UNFIT: readonly (readonly [why: string, text: string, message: RegExp, how?: object])[] = [
  ['says another version', program(PREPARED, '9.9.9'), /expected 1\.2\.3.*found 9\.9\.9/, FINAL],
  ['does not start', '#!/bin/sh\necho "no such library" >&2\nexit 127\n', /no such library/],
  [
    'cannot read the configuration',
    program().replace(/"sno-update prepare .*/, '*prepare*) echo "cluster.json: x" >&2; exit 2 ;;'),
    /cluster\.json: x/,
  ],
  ['says something else', program({ schemaVersion: 2 }), /does not say what it changes/, FINAL],
];
for (const [why, text, message, how] of UNFIT) {
  t.test(`an executable that ${why} is not used`, async (t) => {
    const it = await updating(t, { text });
    await it.run(stageUpdate);
    await t.rejects(it.run(prepare), { message, ...how });
    t.notOk(it.host.has(TRIAL));
    t.equal(it.host.read(EXECUTABLE), 'the old executable');
  });
}

t.test('an update of the payload alone is prepared by the executable in use', async (t) => {
  const it = await updating(t);
  const executable = it.host.read(`${SOURCE}/sno-agents`);
  it.host.write(EXECUTABLE, executable, 0o755);
  await upTo(it, stageUpdate);
  t.notOk(it.host.has(`${STATE}/next/sno-agents`), 'there is nothing to copy');
  await upTo(it, prepare, armUpdate, switchOver);
  t.ok(await it.holds(switchOver));
  t.equal(it.host.read(EXECUTABLE), executable);
});

t.test('everything that changes is a point of return', async (t) => {
  const it = await updating(t);
  it.host.write(`${PROFILES}/eth0.nmconnection`);
  await upTo(it, stageUpdate, prepare, armUpdate);
  t.ok(await it.holds(armUpdate));
  const { what, points, deadlineMs, bootsCount } = JSON.parse(it.host.read(TRIAL));
  t.equal(what, 'the update to sno-agents 1.2.3 with Kubernetes v1.34.5');
  t.same(
    points.files.map(({ path }: { path: string }) => path),
    [SCHEDULER, NEW_UNIT, '/usr/local/bin/sno-new'],
  );
  t.same(points.moved, [{ path: PAYLOAD, aside: '/var/lib/sno-agents/sno-trial/payload' }]);
  t.same(points.network.folders, [{ path: PROFILES, names: ['eth0.nmconnection'] }]);
  t.equal(points.database, undefined, 'the database does not change');
  t.same([deadlineMs, bootsCount], [it.context.settings.updateTrialMs, 1]);
});

async function requireSwitched(t: Test, { host, holds }: Updating) {
  t.ok(await holds(switchOver));
  t.equal(host.read(EXECUTABLE), program());
  t.equal(host.mode(EXECUTABLE), 0o755);
  t.equal(host.read(`${PAYLOAD}/bin/kubelet`), 'the new kubelet');
  t.equal(host.read('/var/lib/sno-agents/sno-trial/payload/bin/kubelet'), 'the old kubelet');
  t.equal(host.read(SCHEDULER), 'the new scheduler');
  t.same([host.mode(SCHEDULER), host.mode(NEW_UNIT)], [0o600, 0o644]);
  t.ok(host.has('/usr/local/bin/sno-new'));
}

t.test('switch replaces everything while the kubelet is stopped', async (t) => {
  const it = await updating(t);
  await upTo(it, stageUpdate, prepare, armUpdate);
  t.notOk(await it.holds(switchOver));
  it.host.programs.forgetCalls();
  it.host.write('/sys/fs/selinux/enforce', '1');
  it.host.programs.give('systemctl', '[ "$1" != start ] || [ -s "$ROOT/labelled" ]');
  it.host.programs.give('setfiles', `tr '\\0' '\\n' > "$ROOT/labelled"`);
  await it.run(switchOver);
  await requireSwitched(t, it);
  t.match(it.host.read('/labelled'), it.host.at(NEW_UNIT), 'with the label of its place');
  t.same(it.host.programs.calls('systemctl'), [
    'systemctl stop kubelet.service',
    'systemctl stop sno-certificates.service',
    'systemctl stop sno-payload.service',
    'systemctl enable --no-reload sno-new.service',
    'systemctl daemon-reload',
    'systemctl start --no-block kubelet.service',
  ]);
  t.ok(await it.holds(switchOver));
  for (const path of [EXECUTABLE, `${PAYLOAD}/payload.yaml`, SCHEDULER]) {
    const placed = it.host.read(path);
    it.host.write(path, `${placed}# of another version`, it.host.mode(path));
    t.notOk(await it.holds(switchOver), `not with another ${path}`);
    it.host.write(path, placed, it.host.mode(path));
  }
  it.host.remove('/usr/local/bin/sno-new');
  t.notOk(await it.holds(switchOver), 'not without a link');
});

const PLACES = [
  ...[EXECUTABLE, SCHEDULER, NEW_UNIT, `${PAYLOAD}/bin/kubelet`],
  '/var/lib/sno-agents/sno-trial/payload/bin/kubelet',
];

t.test('interrupted at any moment of the switch, it is continued without its source', async (t) => {
  await killedAtAnyMoment(t, {
    async prepare() {
      const it = await updating(t);
      await upTo(it, stageUpdate, prepare, armUpdate);
      rmSync(it.host.at(SOURCE), { recursive: true });
      it.host.programs.forgetCalls();
      return it;
    },
    run: (it) => it.run(switchOver),
    async allowed({ host, holds }, when) {
      const calls = host.programs.calls('systemctl');
      const [isStopped, isStarted] = ['stop', 'start'].map((verb) =>
        calls.some((call) => call.startsWith(`systemctl ${verb}`) && /kubelet/.test(call)),
      );
      const kubelet = `${PAYLOAD}/bin/kubelet`;
      const isOld =
        host.read(EXECUTABLE) === 'the old executable' &&
        host.has(kubelet) &&
        host.read(kubelet) === 'the old kubelet';
      t.ok(isStopped || isOld, `${when}: nothing is replaced under a kubelet`);
      t.ok(!isStarted || (await holds(switchOver)), `${when}: no kubelet sees a mixture`);
      t.ok((await holds(stageUpdate)) || (await holds(switchOver)), `${when}: nothing is fetched`);
    },
    result: async ({ host, holds }) => ({
      holds: await holds(switchOver),
      files: PLACES.map((path) => [path, host.read(path), host.mode(path)]),
      link: host.has('/usr/local/bin/sno-new'),
    }),
    least: 20,
    isDurable: true,
  });
});

t.test('a confirmed update leaves nothing behind', async (t) => {
  const it = await updating(t);
  await upTo(it, stageUpdate, prepare, armUpdate, switchOver, confirmUpdate);
  t.ok(await it.holds(confirmUpdate));
  t.match(await it.run(concludeUpdate), {
    kind: 'done',
    note: /^the update to sno-agents 1\.2\.3/,
  });
  t.equal((await updateChange.last(it.host.paths))?.outcome, 'updated');
  t.equal(await readTaken(it.host.paths), 7, 'nothing older is taken from now on');
  for (const path of ['next', 'prepared.json', 'request.json'])
    t.notOk(it.host.has(`${STATE}/${path}`), path);
  t.notOk(it.host.has('/var/lib/sno-agents/sno-trial/payload'));
});

const broken: ChangeStep<UpdateContext> = {
  name: 'broken',
  leaves: 'nothing',
  touches: [],
  holds: async () => false,
  run: async () => done(),
};
const failure = new Failure('deadline', 'it did not settle');

t.test('a failure before the trial: nothing was changed, and that is said', async (t) => {
  const it = await updating(t);
  await updateOrBack(broken).instead?.(it.context, failure);
  t.match(await updateOrBack(stageUpdate).run(it.context, it.host.progress()), { note: /skipped/ });
  await t.rejects(it.run(concludeUpdate), {
    kind: 'fatal',
    code: 'update-refused',
    message: /failed before anything was changed.*it did not settle/,
    details: { parts: [{ kind: 'deadline', what: 'it did not settle' }] },
  });
  t.match(await updateChange.last(it.host.paths), {
    outcome: 'refused',
    failure: { kind: 'deadline' },
  });
  t.notOk(it.host.has(TRIAL));
});

t.test('a failure during the trial: the host restarts and goes back', async (t) => {
  const it = await updating(t);
  await upTo(it, stageUpdate, prepare, armUpdate, switchOver);
  await updateOrBack(broken).instead?.(it.context, failure);
  t.match(JSON.parse(it.host.read(TRIAL)), { reverting: { what: 'it did not settle' } });
  t.equal(it.host.programs.calls('systemctl start --no-block sno-trial.service').length, 1);
  t.match(await updateOrBack(confirmUpdate).run(it.context, it.host.progress()), {
    note: /skipped/,
  });
  t.same(await it.run(concludeUpdate), { kind: 'not-yet', reason: 'the host restarts to go back' });
});

t.test('after the host went back, the reason is reported once', async (t) => {
  const it = await updating(t);
  await upTo(it, stageUpdate, prepare, armUpdate, switchOver);
  await recordReverting(it.host.paths, { code: 'deadline', kind: 'deadline', what: 'no rest' });
  const { what } = JSON.parse(it.host.read(TRIAL));
  const last = {
    schemaVersion: 1,
    id: ID,
    what,
    endedAt: '2030-01-03T00:00:00Z',
    outcome: 'reverted',
  };
  const reason = { code: 'deadline', kind: 'deadline', what: 'no rest' };
  it.host.write(
    '/var/lib/sno-agents/sno-trial/last.json',
    JSON.stringify({ ...last, reason, problems: [] }),
  );
  it.host.remove(TRIAL);
  await t.rejects(it.run(concludeUpdate), {
    code: 'update-reverted',
    message: /was taken back.*no rest/,
    details: { parts: [{ kind: 'deadline', what: 'no rest' }] },
  });
  t.equal((await updateChange.last(it.host.paths))?.outcome, 'reverted');
  t.equal(await readTaken(it.host.paths), undefined, 'an older one may be the right one');
  t.notOk(it.host.has(`${STATE}/request.json`));
  let text = '';
  const write = (part: string) => {
    text += part;
  };
  await runUpdate(it.host.paths, ['status'], { write });
  t.match(text, /last: the update to sno-agents 1\.2\.3 .* was taken back/);
});
