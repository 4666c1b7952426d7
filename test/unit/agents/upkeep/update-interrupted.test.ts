/** An update that is killed or loses its power at any moment of its first and its last step. */
import t from 'tap';
import { armUpdate } from '../../../../agents/upkeep/update/arm.ts';
import { concludeUpdate } from '../../../../agents/upkeep/update/conclude.ts';
import { confirmUpdate } from '../../../../agents/upkeep/update/confirm.ts';
import { prepare } from '../../../../agents/upkeep/update/prepare.ts';
import { stageUpdate } from '../../../../agents/upkeep/update/stage.ts';
import { switchOver } from '../../../../agents/upkeep/update/switch.ts';
import { updateChange } from '../../../../lib/change/update/request.ts';
import { readTaken } from '../../../../lib/change/update/taken.ts';
import { writeLast } from '../../../../lib/engine/trial/store.ts';
import { namesIn } from '../../../../lib/host/files.ts';
import { killedAtAnyMoment } from '../../engine/steps/killed-at-any-moment.ts';
import { kernelHasSelinux } from '../../host/selinux.ts';
import { STATE, updating } from './updating-host.ts';

type Updating = Awaited<ReturnType<typeof updating>>;

t.test('interrupted at any moment, nothing counts as staged that is not whole', async (t) => {
  const next = `${STATE}/next`;
  const staged = ({ host }: Updating) =>
    ['sno-agents', 'payload/payload.yaml', 'payload/bin/kubelet', 'payload/images/etcd.tar'].map(
      (name) => host.has(`${next}/${name}`) && host.read(`${next}/${name}`),
    );
  const whole = await updating(t);
  await whole.run(stageUpdate);
  const expected = staged(whole);
  await killedAtAnyMoment(t, {
    prepare: () => updating(t),
    run: (it) => it.run(stageUpdate),
    async allowed(it, when) {
      if (await it.holds(stageUpdate)) t.same(staged(it), expected, `${when}: it holds`);
    },
    result: (it) => [staged(it), it.host.mode(next), it.host.mode(`${next}/sno-agents`)],
    least: 10,
    isDurable: true,
    isConcurrent: true,
  });
});

t.test('an executable that does not answer has no longer than the step', async (t) => {
  const { host, context, run } = await updating(t, { text: '#!/bin/sh\nexec sleep 20\n' });
  await run(stageUpdate);
  const left = host.progress(new AbortController().signal, 200);
  await t.rejects(prepare.run(context, left), { message: /sno-agents --version/ });
});

/** As what is asked next says it, or the program that was ended. */
const STOPPED = /told to stop|found stopped/;

t.test('told to stop, it neither copies nor waits for the new executable any more', async (t) => {
  const stopped = (it: Updating, step: typeof prepare, at: string) =>
    it.host.stoppedAt(at, (progress) => step.run(it.context, progress));
  const copying = await updating(t);
  copying.host.programs.give(
    'cp',
    'case "$*" in */kubelet*) touch "$ROOT/begun"; exec sleep 60 ;; esac; exec /bin/cp "$@"',
  );
  t.match(await stopped(copying, stageUpdate, '/begun'), { message: STOPPED });
  t.notOk(await copying.holds(stageUpdate));
  copying.host.programs.remove('cp');
  const begins = '[ "$1" = --version ] && echo 1.2.3 && exit; touch "$0.begun"; exec sleep 60';
  const asked = await updating(t, { text: `#!/bin/sh\n${begins}\n` });
  await asked.run(stageUpdate);
  const end = await stopped(asked, prepare, `${STATE}/next/sno-agents.begun`);
  t.match(end, { message: STOPPED });
});

t.test('with SELinux, the new executable is one that services may run', async (t) => {
  const it = await updating(t);
  it.host.programs.give('chcon', 'exit 0');
  kernelHasSelinux(t, true);
  await it.run(stageUpdate);
  const next = it.host.at(`${STATE}/next/sno-agents`);
  t.ok(it.host.programs.calls('chcon').includes(`chcon -t bin_t -- ${next}`));
});

t.test(
  'interrupted at any moment of the end, an older update is refused from then on',
  async (t) => {
    await killedAtAnyMoment(t, {
      async prepare() {
        const it = await updating(t);
        for (const step of [stageUpdate, prepare, armUpdate, switchOver, confirmUpdate]) {
          await it.run(step);
        }
        return it;
      },
      run: (it) => it.run(concludeUpdate),
      async again(it) {
        if (!(await it.holds(concludeUpdate))) await it.run(concludeUpdate);
      },
      async allowed(it, when) {
        if ((await updateChange.last(it.host.paths)) === undefined) return;
        t.equal(await readTaken(it.host.paths), 7, `${when}: its serial is known`);
      },
      result: async (it) => [
        (await updateChange.last(it.host.paths))?.outcome,
        await readTaken(it.host.paths),
        (await namesIn(it.host.at(STATE))).filter((name) => !name.startsWith('.')),
      ],
      least: 8,
      isDurable: true,
    });
  },
);

t.test('each step is done once it has run, and not before', async (t) => {
  const it = await updating(t);
  const another = { id: '11111111-1111-4111-8111-111111111111', what: 'another change' };
  const endedAt = '2030-01-01T00:00:00Z';
  const ended = { ...another, endedAt, outcome: 'confirmed' } as const;
  await writeLast(it.host.paths, { schemaVersion: 1, ...ended, problems: [] });
  const steps = [stageUpdate, prepare, armUpdate, switchOver, confirmUpdate, concludeUpdate];
  for (const step of steps) {
    t.notOk(await it.holds(step), `${step.name}, before`);
    await it.run(step);
    t.ok(await it.holds(step), step.name);
  }
});
