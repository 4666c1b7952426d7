/** After an update to another minor version is confirmed: its control plane stops emulating the earlier one. */
import { statSync } from 'node:fs';
import t, { type Test } from 'tap';
import { concludeUpdate } from '../../../../agents/upkeep/update/conclude.ts';
import type { UpdateContext } from '../../../../agents/upkeep/update/context.ts';
import { endEmulation } from '../../../../agents/upkeep/update/emulation.ts';
import { runUpdate } from '../../../../agents/upkeep/update/main.ts';
import { Failure } from '../../../../lib/base/errors/failure.ts';
import { updateChange } from '../../../../lib/change/update/request.ts';
import { writeLast } from '../../../../lib/engine/trial/store.ts';
import { components } from '../../../../lib/render/kubernetes/static-pod.ts';
import { killedAtAnyMoment } from '../../engine/steps/killed-at-any-moment.ts';
import { type Differs, manifestOf, podOf, settling } from './settling-host.ts';
import { ID, PREPARED, STATE, updating } from './updating-host.ts';

const FLAG = '--emulated-version=kube=1.33';
const pathOf = (component: string) => `/etc/kubernetes/manifests/${component}.yaml`;
const INPUT = '/etc/sno-agents/render-input.json';
const EMULATING = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'];

const withFlag = (component: string, ...flags: string[]) =>
  manifestOf(component, `r.test/${component}:2, command: ${JSON.stringify([component, ...flags])}`);

const files = (...flags: string[]) => [
  ...EMULATING.map((name) => ({
    path: pathOf(name),
    contents: withFlag(name, ...flags),
    mode: 0o600,
  })),
  { path: INPUT, contents: JSON.stringify({ flags }), mode: 0o600 },
];

const EMULATION = { version: '1.33', during: files(FLAG), after: files() };

/** A kubelet that shows each manifest as it is on the host. */
async function emulating(
  t: Test,
  {
    outcome = 'confirmed' as const,
    ...differs
  }: Differs & { outcome?: 'confirmed' | 'reverted' } = {},
) {
  const it = await settling(t, {
    pods: () => components.map((name) => shown(name)),
    prepared: { emulation: EMULATION },
    ...differs,
  });
  const shown = (name: string) => {
    const pod = podOf(name);
    const manifest = it.host.read(pathOf(name));
    const command = JSON.parse(/command: (\[.*?\])/.exec(manifest)?.[1] ?? '[]');
    const [container] = pod.spec.containers;
    return { ...pod, spec: { ...pod.spec, containers: [{ ...container, command }] } };
  };
  const context = await confirmed(it, EMULATION.during, outcome);
  return { ...it, context };
}

/** Gives the host these files, and the record that its update has ended. */
async function confirmed(
  { host, context }: Pick<Awaited<ReturnType<typeof updating>>, 'host' | 'context'>,
  placed: typeof EMULATION.during,
  outcome: 'confirmed' | 'reverted' = 'confirmed',
): Promise<UpdateContext> {
  for (const { path, contents, mode } of placed) host.write(path, contents, mode);
  const ended = {
    schemaVersion: 1,
    id: ID,
    what: 'the update',
    endedAt: '2030-01-03T00:00:00Z',
  } as const;
  await writeLast(host.paths, { ...ended, outcome, problems: [] });
  const before = { kubernetes: 'v1.33.9', etcd: 'v3.6.8' };
  const request = { ...context.request, before };
  await updateChange.write(host.paths, request);
  return { ...context, request };
}

/** The same without a control plane that settles: only what is on the disk counts. */
async function withFiles(t: Test, placed: typeof EMULATION.during) {
  const it = await updating(t);
  it.host.write(`${STATE}/prepared.json`, JSON.stringify({ ...PREPARED, emulation: EMULATION }));
  return { ...it, context: await confirmed(it, placed) };
}

type Emulating = Pick<Awaited<ReturnType<typeof emulating>>, 'host' | 'context'>;
const run = ({ context, host }: Emulating) =>
  endEmulation.run(context, host.progress(AbortSignal.timeout(300_000), 300_000));
const holds = ({ context, host }: Emulating) => endEmulation.holds(context, host.progress());
const flags = ({ host }: Emulating) =>
  EMULATION.during.map(({ path }) => host.read(path).includes(FLAG));

t.test('the control plane starts anew without the flag, and settles', async (t) => {
  const it = await emulating(t);
  t.notOk(await holds(it));
  t.same(await run(it), { kind: 'done', note: 'Kubernetes 1.33 is no longer emulated' });
  t.ok(await holds(it));
  t.same(flags(it), [false, false, false, false]);
  t.same([...new Set(it.asked)], ['runtime', 'readyz', 'mirror pods', 'steady']);
  const modes = EMULATION.after.map(({ path, mode }) => [it.host.mode(path), mode]);
  for (const [found, mode] of modes) t.equal(found, mode, 'for root alone');
  const inodes = () => EMULATION.after.map(({ path }) => statSync(it.host.at(path)).ino);
  const written = inodes();
  await run(it);
  t.same(inodes(), written, 'what is placed is not written again');
  t.match(await concludeUpdate.run(it.context, it.host.progress()), { kind: 'done' });
  t.match(await updateChange.last(it.host.paths), { outcome: 'updated', failure: undefined });
});

t.test('a kubelet that has not taken it up is waited for', async (t) => {
  const command = [FLAG];
  const stale = (name: string) => {
    const pod = podOf(name);
    const containers = pod.spec.containers.map((container) => ({ ...container, command }));
    return { ...pod, spec: { ...pod.spec, containers } };
  };
  const it = await emulating(t, { pods: () => components.map(stale) });
  const stop = new AbortController();
  const running = endEmulation.run(it.context, it.host.progress(stop.signal, 300_000));
  await Promise.race([it.host.said(/kube-scheduler-edge-0 runs with/), running]);
  stop.abort(new Error('stopped by the test'));
  await t.rejects(running, { message: 'stopped by the test' });
  t.notOk(it.asked.includes('steady'));
});

t.test('nothing is emulated: nothing is changed', async (t) => {
  const without = await emulating(t, { prepared: {} });
  t.ok(await holds(without));
  t.same(await run(without), { kind: 'done', note: 'nothing is emulated' });
  const other = await emulating(t);
  const another = { ...other.context.request, id: '11111111-1111-4111-8111-111111111111' };
  t.ok(await holds({ ...other, context: { ...other.context, request: another } }), 'not for it');
  const reverted = await emulating(t, { outcome: 'reverted' });
  t.ok(await holds(reverted), 'the way back has put other files back');
  await run(reverted);
  t.same(flags(reverted), [true, true, true, true]);
});

t.test('a control plane that does not come up without it goes on with it', async (t) => {
  const it = await emulating(t);
  await run(it);
  const failure = new Failure('deadline', 'the scheduler did not come up');
  t.match(await endEmulation.instead?.(it.context, failure), /runs as before/);
  t.same(flags(it), [true, true, true, true]);
  t.ok(await holds(it), 'it is not tried again by itself');
  await t.rejects(concludeUpdate.run(it.context, it.host.progress()), {
    code: 'update-emulates',
    message: /is in use, but still emulates 1\.33.*scheduler did not come up.*same update again/,
    details: { parts: [{ kind: 'deadline', what: 'the scheduler did not come up' }] },
  });
  t.match(await updateChange.last(it.host.paths), {
    outcome: 'updated',
    failure: { what: 'the scheduler did not come up' },
  });
  let text = '';
  await runUpdate(it.host.paths, ['status'], {
    write: (part) => {
      text += part;
    },
  });
  t.match(text, /still emulates 1\.33/);
});

t.test(
  'interrupted at any moment, it ends the same, and no client is newer than its server',
  async (t) => {
    await killedAtAnyMoment(t, {
      prepare: () => emulating(t),
      run: (it) => run(it),
      allowed(it, when) {
        const [server, ...clients] = flags(it);
        t.ok(server === false || clients.every((flag) => flag), `${when}: the API server is first`);
      },
      result: async (it) => [flags(it), await holds(it)],
      least: 16,
      isDurable: true,
    });
  },
);

t.test('interrupted while the flag is put back, it is put back', async (t) => {
  const failure = new Failure('deadline', 'x');
  await killedAtAnyMoment(t, {
    prepare: () => withFiles(t, EMULATION.after),
    run: (it) => endEmulation.instead?.(it.context, failure) ?? Promise.resolve(),
    result: async (it) => [flags(it), (await updateChange.read(it.host.paths))?.failure?.what],
    least: 16,
    isDurable: true,
  });
});
