/** The way back after a confirmation: what is kept for it, and every moment at which it may be interrupted. */
import { lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { Failure } from '../../../../lib/base/errors/failure.ts';
import { failureData } from '../../../../lib/base/errors/failure-data.ts';
import { lockAgent } from '../../../../lib/engine/steps/lock.ts';
import { confirmTrial } from '../../../../lib/engine/trial/arm.ts';
import {
  keepTrial,
  readKept,
  readKeptFile,
  returnToKept,
} from '../../../../lib/engine/trial/kept.ts';
import { putBackNetwork, putBackRest } from '../../../../lib/engine/trial/points.ts';
import { readTrial } from '../../../../lib/engine/trial/store.ts';
import { bootMoment } from '../../../../lib/host/boot.ts';
import type { TestHost } from '../../agents/host/host.ts';
import { dying, killedAtAnyMoment } from '../steps/killed-at-any-moment.ts';
import {
  arm,
  change,
  EXECUTABLE,
  ID,
  KEPT_EXECUTABLE,
  MOVED,
  RECORD,
  snapshot,
  unchangedHost,
} from './changed-host.ts';

const signal = new AbortController().signal;
const KEPT = '/var/lib/sno-agents/before';
const reason = failureData(new Failure('usage', 'somebody asked'));

async function onTrial(t: Test): Promise<TestHost> {
  const host = unchangedHost(t);
  await arm(host);
  await change(host);
  return host;
}

async function confirmed(t: Test): Promise<TestHost> {
  const host = await onTrial(t);
  await keepTrial(host.paths, host.at(KEPT), signal);
  await confirmTrial(host.paths, signal);
  return host;
}

/** The files of a folder with their contents. */
const contents = (host: TestHost, folder: string) =>
  readdirSync(host.at(folder), { recursive: true, encoding: 'utf8' })
    .toSorted()
    .map((name) => join(host.at(folder), name))
    .map((path) => [
      path.slice(host.root.length),
      path.endsWith('trial.json') || !statSync(path).isFile() ? '' : readFileSync(path, 'utf8'),
    ]);

t.test(
  'interrupted while the points of return are kept: it is repeated, or not kept',
  async (t) => {
    await killedAtAnyMoment(t, {
      prepare: () => onTrial(t),
      run: (host) => keepTrial(host.paths, host.at(KEPT), signal),
      async allowed(host, when) {
        const isKept = (await readKept(host.at(KEPT))) !== undefined;
        const has = (path: string) => host.has(`${KEPT}/${path}`);
        t.ok(
          !isKept || (has('copies/1') && has('payload/payload.yaml')),
          `${when}: kept as a whole`,
        );
      },
      result: async (host) => [await contents(host, KEPT), (await readKept(host.at(KEPT)))?.id],
      least: 5,
      isDurable: true,
    });
  },
);

t.test('interrupted at any moment of the return, the host comes back as a whole', async (t) => {
  const before = snapshot(unchangedHost(t));
  const id = ID.replace('111', '222');
  await killedAtAnyMoment(t, {
    async prepare() {
      const host = await confirmed(t);
      // Of a trial before that could not be taken back completely.
      host.write('/var/lib/sno-agents/sno-trial/copies/9', 'of an earlier trial');
      host.write(`${MOVED.aside}/images/coredns.tar`, 'of an earlier trial');
      return host;
    },
    run: (host) => returnToKept(host.paths, host.at(KEPT), { id, reason }, signal),
    again: async (host) => {
      // A command: somebody gives it again, unless it has got as far as the record.
      if (!host.has(RECORD)) await returnToKept(host.paths, host.at(KEPT), { id, reason }, signal);
    },
    async allowed(host, when) {
      const starts = host.programs.calls('systemctl start --no-block sno-trial.service');
      t.ok(starts.length === 0 || host.has(RECORD), `${when}: nothing starts without the record`);
      const isComplete =
        host.has(KEPT_EXECUTABLE) && host.has('/var/lib/sno-agents/sno-trial/payload');
      t.ok(!host.has(RECORD) || isComplete, `${when}: no record without what it names`);
      t.ok((await readKept(host.at(KEPT))) !== undefined, `${when}: what is kept stays`);
    },
    result: async (host) => {
      const trial = await readTrial(host.paths);
      if (trial === undefined) return 'no trial';
      const { points, reverting } = trial;
      const executable = host.read(EXECUTABLE);
      await putBackNetwork(host.paths, points);
      await putBackRest(host.paths, points);
      const after = Object.fromEntries(
        Object.entries(snapshot(host)).filter(([path]) => !/before\/|bin\/sno-agents$/.test(path)),
      );
      t.same(Object.keys(after).length, Object.keys(before).length - 1, 'without the executable');
      return { id: trial.id, reverting, executable, after };
    },
    least: 10,
  });
});

t.test('what is kept can be read by root alone', async (t) => {
  const deeper = await onTrial(t);
  await keepTrial(deeper.paths, deeper.at(`${KEPT}/deeper`), signal);
  t.equal(deeper.mode(KEPT), 0o700, 'a folder above it, too');
  const host = await confirmed(t);
  t.equal(host.mode(KEPT), 0o700);
  t.equal(host.mode(`${KEPT}/trial.json`), 0o600);
});

t.test('what a file was is read by its path', async (t) => {
  const host = await confirmed(t);
  const trial = await readKept(host.at(KEPT));
  if (trial === undefined) throw new Error('nothing is kept');
  const was = (path: string) => readKeptFile(host.at(KEPT), trial, path);
  t.equal(await was('/etc/kubernetes/secret'), 'old key');
  t.equal(await was('/etc/sno-agents/new'), undefined, 'there was none');
  t.equal(await was('/secret'), undefined);
});

t.test('there is no way back without a trial, to nothing, or under another trial', async (t) => {
  const host = unchangedHost(t);
  const id = ID.replace('111', '222');
  const back = () => returnToKept(host.paths, host.at(KEPT), { id, reason }, signal);
  const isRefused = (action: () => Promise<unknown>, message: RegExp) =>
    t.rejects(action(), { kind: 'usage', message });
  await isRefused(() => keepTrial(host.paths, host.at(KEPT), signal), /nothing is on trial/);
  t.notOk(host.has(KEPT));
  await isRefused(back, /nothing is kept/);
  await arm(host);
  await keepTrial(host.paths, host.at(KEPT), signal);
  await isRefused(back, /the change is on trial/);
  await confirmTrial(host.paths, signal);
  {
    using _lock = await lockAgent('sno-trial', host.paths.root);
    await t.rejects(back(), { code: 'already-running' });
  }
  t.notOk(host.has(RECORD));
  t.notOk(host.programs.calls().join().includes('sno-trial.service'));
});

t.test('a change that moved no folder has none to come back to', async (t) => {
  const host = unchangedHost(t);
  await arm(host);
  await keepTrial(host.paths, host.at(KEPT), signal);
  await confirmTrial(host.paths, signal);
  t.same(readdirSync(host.at(KEPT)), ['copies', 'trial.json']);
  await returnToKept(host.paths, host.at(KEPT), { id: ID, reason }, signal);
  t.notOk(host.has(MOVED.aside));
  t.ok(host.has(RECORD));
});

t.test(
  'the trial of the return has seen this boot alone: files are put back in the next',
  async (t) => {
    const host = await confirmed(t);
    const kept = JSON.parse(host.read(`${KEPT}/trial.json`));
    const boots = [{ boot: 'an earlier one', up: 5 }];
    const problems = [{ part: 'network', failure: reason }];
    host.write(`${KEPT}/trial.json`, JSON.stringify({ ...kept, boots, problems }));
    await returnToKept(host.paths, host.at(KEPT), { id: ID, reason }, signal);
    const { boot } = await bootMoment();
    t.match(await readTrial(host.paths), { id: ID, reverting: reason, boots: [{ boot }] });
    const starts = host.programs.calls('systemctl start');
    t.equal(starts.at(-1), 'systemctl start --no-block sno-trial.service', 'it restarts the host');
    t.equal((await readTrial(host.paths))?.boots.length, 1);
    t.same((await readTrial(host.paths))?.problems, [], 'every part is tried');
  },
);

t.test('what is on another mount is copied outside the sandbox', async (t) => {
  const linked = await onTrial(t);
  await keepTrial(linked.paths, linked.at(KEPT), signal);
  const host = await onTrial(t);
  // As on a second mount: no link can be made, and a folder is left over.
  host.programs.give(
    'cp',
    'case "$*" in *--link*) mkdir -p "$5"; exit 1 ;; esac; exec /bin/cp "$@"',
  );
  host.programs.give('systemd-run', 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"');
  const { effects } = await dying(Number.POSITIVE_INFINITY, false, () =>
    keepTrial(host.paths, host.at(KEPT), signal),
  );
  const synced = effects.map(({ text }) => text);
  for (const path of ['copies/1', 'payload/payload.yaml'])
    t.ok(synced.includes(`sync ${host.at(`${KEPT}/${path}`)}`), `${path} is on the disk`);
  t.same(contents(host, KEPT), contents(linked, KEPT));
  const copied = `${KEPT}/payload/payload.yaml`;
  t.not(lstatSync(host.at(copied)).ino, lstatSync(host.at(`${MOVED.aside}/payload.yaml`)).ino);
  t.equal(lstatSync(linked.at(copied)).nlink, 2, 'a second name where links can be made');
});

t.test('told to stop while it links, it does not copy', async (t) => {
  const host = await onTrial(t);
  host.programs.give('cp', 'touch "$ROOT/begun"; exec sleep 60');
  host.programs.give('systemd-run', 'exit 0');
  const ended = await host.stoppedAt('/begun', ({ signal }) =>
    keepTrial(host.paths, host.at(KEPT), signal),
  );
  t.type(ended, Error);
  t.same(host.programs.calls('systemd-run'), []);
  t.equal(await readKept(host.at(KEPT)), undefined);
});
