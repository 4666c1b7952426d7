/** What is put back of a host, whatever state the change and an earlier trial have left it in. */
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { dirname } from 'node:path';
import t from 'tap';
import { Failure } from '../../../../lib/base/errors/failure.ts';
import { lockAgent } from '../../../../lib/engine/steps/lock.ts';
import { confirmTrial } from '../../../../lib/engine/trial/arm.ts';
import {
  isNetworkBack,
  isRestBack,
  putBackNetwork,
  putBackRest,
  replaceFolder,
} from '../../../../lib/engine/trial/points.ts';
import { readTrial, recordProblem, recordReverting } from '../../../../lib/engine/trial/store.ts';
import { REVERT_PARTS } from '../../../../lib/engine/trial/trial.ts';
import { killedAtAnyMoment } from '../steps/killed-at-any-moment.ts';
import {
  arm,
  change,
  DROPIN,
  EXECUTABLE,
  KEPT_EXECUTABLE,
  LAST,
  MOVED,
  OPTIONS,
  PROFILES,
  RECORD,
  snapshot,
  unchangedHost,
} from './changed-host.ts';

const COPIES = '/var/lib/sno-agents/sno-trial/copies';
const signal = AbortSignal.timeout(300_000);

t.test('what is kept can be read by root alone; the deadline is for systemd', async (t) => {
  const host = unchangedHost(t);
  await arm(host);
  t.equal(host.mode(COPIES), 0o700);
  const names = readdirSync(host.at(COPIES));
  t.equal(names.length, 3, 'of the files that there are');
  for (const name of names) t.equal(host.mode(`${COPIES}/${name}`), 0o600, name);
  t.equal(host.mode(RECORD), 0o600);
  t.equal(host.mode(DROPIN), 0o644);
  await confirmTrial(host.paths, signal);
  t.equal(host.mode(LAST), 0o600);
  t.notOk(host.has(COPIES));
});

t.test('what an earlier way back left of a folder is not in the way', async (t) => {
  const host = unchangedHost(t);
  const { points } = await arm(host);
  await change(host);
  host.write(`${MOVED.path}.discarded/images/etcd.tar`, 'of an earlier change');
  await putBackRest(host.paths, points);
  t.ok(await isRestBack(host.paths, points));
  t.equal(host.read(`${MOVED.path}/payload.yaml`), 'the old payload');
});

t.test('while the agent that takes back runs, nobody arms or confirms', async (t) => {
  const host = unchangedHost(t);
  const { root } = host.paths;
  const whileItRuns = async (action: () => Promise<unknown>) => {
    using _lock = await lockAgent('sno-trial', root);
    await t.rejects(action(), { code: 'already-running' });
  };
  await whileItRuns(() => arm(host));
  t.notOk(host.has(RECORD));
  await arm(host);
  await whileItRuns(() => confirmTrial(host.paths, signal));
  t.ok(host.has(RECORD));
});

t.test('armed again, the executable has its two names and no third', async (t) => {
  const host = unchangedHost(t);
  await arm(host);
  rmSync(host.at(RECORD));
  await arm(host);
  t.same(readdirSync(dirname(host.at(EXECUTABLE))).toSorted(), ['sno-agents', 'sno-agents.trial']);
});

t.test('what an earlier trial could not put back is not put back by this one', async (t) => {
  const host = unchangedHost(t);
  const before = snapshot(host);
  host.write(`${MOVED.aside}/payload.yaml`, 'of an earlier trial');
  host.write(`${COPIES}/9`, 'of an earlier trial');
  const { points } = await arm(host);
  t.notOk(host.has(`${COPIES}/9`));
  await change(host);
  await putBackNetwork(host.paths, points);
  await putBackRest(host.paths, points);
  t.same(snapshot(host), before);
});

t.test('interrupted at any moment, a change is taken back as a whole', async (t) => {
  const before = snapshot(unchangedHost(t));
  await killedAtAnyMoment(t, {
    async prepare() {
      const host = unchangedHost(t);
      await arm(host);
      return host;
    },
    run: change,
    async again(host) {
      const trial = await readTrial(host.paths);
      if (trial === undefined) throw new Error('the trial is gone');
      await putBackNetwork(host.paths, trial.points);
      await putBackRest(host.paths, trial.points);
      t.ok(await isNetworkBack(host.paths, trial.points));
      t.ok(await isRestBack(host.paths, trial.points));
      t.same(withoutNext(snapshot(host)), before);
    },
    result: () => 'taken back',
    least: 4,
  });
});

/** Without the folder that the interrupted change had not put in its place yet. */
const withoutNext = (found: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(found).filter(([path]) => !path.includes('/next-payload/')));

t.test('each thing that is not as it was is noticed, said and put back', async (t) => {
  const host = unchangedHost(t);
  const before = snapshot(host);
  const { points } = await arm(host);
  const spoilt: [path: string, spoil: () => void][] = [
    [EXECUTABLE, () => rmSync(host.at(EXECUTABLE))],
    ['/etc/kubernetes/kubelet.yaml', () => host.write('/etc/kubernetes/kubelet.yaml', 'other')],
    ['/etc/kubernetes/secret', () => rmSync(host.at('/etc/kubernetes/secret'))],
    ['/etc/sno-agents/new', () => host.write('/etc/sno-agents/new')],
  ];
  for (const [path, spoil] of spoilt) {
    spoil();
    t.notOk(await isRestBack(host.paths, points), path);
    t.same(await putBackRest(host.paths, points), [path]);
    t.ok(await isRestBack(host.paths, points), path);
    t.same(snapshot(host), before, path);
  }
  host.write('/var/lib/sno-agents/next/payload.yaml', 'another payload');
  await replaceFolder(host.paths, MOVED, host.at('/var/lib/sno-agents/next'));
  t.notOk(await isRestBack(host.paths, points), 'a folder alone');
  t.same(await putBackRest(host.paths, points), [MOVED.path]);
  t.ok(await isRestBack(host.paths, points));
  t.same(snapshot(host), before, 'a folder alone');
  // Killed between the two halves of a folder's return.
  mkdirSync(host.at(`${MOVED.path}.discarded`));
  t.notOk(await isRestBack(host.paths, points), 'a folder that is given up');
  t.same(await putBackRest(host.paths, points), [], 'its deletion is no change');
  t.notOk(existsSync(host.at(`${MOVED.path}.discarded`)));
  t.ok(await isRestBack(host.paths, points));
});

t.test('a folder that is new among the profiles goes, and one in place of a file', async (t) => {
  const host = unchangedHost(t);
  const before = snapshot(host);
  const { points } = await arm(host);
  host.write(`${PROFILES}/new/profile`);
  t.notOk(await isNetworkBack(host.paths, points));
  t.same(await putBackNetwork(host.paths, points), [`${PROFILES}/new`]);
  t.notOk(host.has(`${PROFILES}/new`));
  t.ok(await isNetworkBack(host.paths, points));
  t.same(snapshot(host), before);
});

t.test('another mode is another file, also with the same contents', async (t) => {
  const host = unchangedHost(t);
  const { points } = await arm(host);
  host.remove('/etc/kubernetes/secret');
  host.write('/etc/kubernetes/secret', 'old key', 0o640);
  t.notOk(await isRestBack(host.paths, points));
  t.same(await putBackRest(host.paths, points), ['/etc/kubernetes/secret']);
  t.equal(host.mode('/etc/kubernetes/secret'), 0o600);
});

t.test('a mode comes back with its special bits', async (t) => {
  const host = unchangedHost(t);
  const file = host.at('/etc/kubernetes/secret');
  chmodSync(file, 0o1600);
  const { points } = await arm(host);
  t.ok(await isRestBack(host.paths, points));
  await change(host);
  await putBackRest(host.paths, points);
  t.equal(lstatSync(file).mode & 0o7777, 0o1600);
});

t.test('a link in place of a file is replaced, not followed', async (t) => {
  const host = unchangedHost(t);
  const file = host.at('/etc/kubernetes/secret');
  // The mode of every link.
  chmodSync(file, 0o777);
  const { points } = await arm(host);
  rmSync(file);
  symlinkSync('kubelet.yaml', file);
  t.notOk(await isRestBack(host.paths, points));
  t.same(await putBackRest(host.paths, points), ['/etc/kubernetes/secret']);
  t.ok(lstatSync(file).isFile());
  t.equal(host.read('/etc/kubernetes/kubelet.yaml'), 'old: true');
});

t.test('everything that was replaced is said, the executable first', async (t) => {
  const host = unchangedHost(t);
  const { points } = await arm(host);
  await change(host);
  const files = OPTIONS.points.files ?? [];
  t.same(await putBackRest(host.paths, points), [EXECUTABLE, MOVED.path, ...files]);
  t.ok(host.has(KEPT_EXECUTABLE), 'until the end of the trial');
});

t.test(
  'each part that could not be put back is recorded once, with its first reason',
  async (t) => {
    const host = unchangedHost(t);
    await recordProblem(host.paths, 'network', new Failure('fatal', 'nothing is on trial'));
    t.notOk(host.has(RECORD));
    t.equal(
      await recordReverting(host.paths, { code: 'refused', kind: 'fatal', what: 'no trial' }),
      false,
    );
    await arm(host);
    for (const part of REVERT_PARTS) {
      await recordProblem(host.paths, part, new Failure('fatal', `${part} is damaged`));
      await recordProblem(host.paths, part, new Failure('fatal', 'again'));
    }
    t.match(
      (await readTrial(host.paths))?.problems,
      ['network', 'files', 'database'].map((part) => ({
        part,
        failure: { what: `${part} is damaged` },
      })),
    );
  },
);

t.test('a record without any boot is damaged', async (t) => {
  const host = unchangedHost(t);
  await arm(host);
  const record = JSON.parse(host.read(RECORD));
  const wrong = [{ boots: [] }, { deadlineMs: 0 }, { bootsCount: -1 }, { schemaVersion: 2 }];
  for (const fields of wrong) {
    host.write(RECORD, JSON.stringify({ ...record, ...fields }));
    await t.rejects(
      readTrial(host.paths),
      { kind: 'fatal', message: /cannot be used/ },
      JSON.stringify(fields),
    );
  }
  host.write(RECORD, JSON.stringify({ ...record, bootsCount: 0 }));
  t.match(await readTrial(host.paths), { bootsCount: 0 });
});
