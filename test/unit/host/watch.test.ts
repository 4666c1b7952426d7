import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { writeFileAtomic } from '../../../lib/host/files.ts';
import { FolderChanges, waitForFiles, waitForPath } from '../../../lib/host/watch.ts';

const limits = { signal: new AbortController().signal, deadlineMs: 60_000 };

t.test('an existing path, one created later, and one whose folder is created too', async (t) => {
  const folder = t.testdir({ there: '' });
  await t.resolves(waitForPath(join(folder, 'there'), limits));
  for (const name of ['file', 'sub/file', 'deep/er/file']) {
    const path = join(folder, name);
    const waiting = waitForPath(path, limits);
    setTimeout(() => {
      mkdirSync(join(path, '..'), { recursive: true });
      writeFileSync(path, '');
    }, 100);
    await waiting;
    t.ok(existsSync(path), name);
  }
});

t.test('a file that is replaced, changed, removed', async (t) => {
  const path = join(t.testdir({ state: 'one' }), 'state');
  const waitFor = (holds: () => Promise<boolean>) =>
    waitForFiles([path], holds, { ...limits, describe: () => 'a change' });
  const text = () => readFile(path, 'utf8').catch(() => 'nothing');

  setTimeout(() => void writeFileAtomic(path, 'two', 0o600), 100);
  await t.resolves(waitFor(async () => (await text()) === 'two'));
  setTimeout(() => writeFileSync(path, 'three'), 100);
  await t.resolves(waitFor(async () => (await text()) === 'three'));
  setTimeout(() => rmSync(path), 100);
  await t.resolves(waitFor(async () => (await text()) === 'nothing'));
});

t.test('it is checked on changes, not repeatedly', async (t) => {
  const folder = t.testdir({ a: '', b: '' });
  let asked = 0;
  const holds = async () => {
    asked++;
    return false;
  };
  await t.rejects(
    waitForFiles([join(folder, 'a'), join(folder, 'b')], holds, {
      ...limits,
      deadlineMs: 300,
      describe: () => `what ${asked > 0 ? 'was asked' : 'was not'}`,
    }),
    { kind: 'deadline', message: 'waited 0s for what was asked' },
  );
  t.ok(asked > 0 && asked < 10, `asked ${asked} times`);
});

t.test('ends', async (t) => {
  const path = join(t.testdir(), 'never');
  await t.rejects(waitForPath(path, { ...limits, deadlineMs: 50 }), {
    kind: 'deadline',
    message: `waited 0s for ${path} to appear`,
  });
  await t.rejects(waitForPath(path, { ...limits, deadlineMs: -5 }), {
    kind: 'deadline',
    message: /to appear/,
  });
  await t.test('how long it waited', async (t) => {
    const timeouts: number[] = [];
    t.capture(AbortSignal, 'timeout', (ms: number) => {
      timeouts.push(ms);
      return AbortSignal.abort();
    });
    await t.rejects(waitForPath(path, { ...limits, deadlineMs: 90_400 }), {
      message: `waited 90s for ${path} to appear`,
    });
    t.same(timeouts, [90_400]);
  });
  const stop = new AbortController();
  setTimeout(() => stop.abort(new Error('told to stop')), 50);
  await t.rejects(waitForPath(path, { ...limits, signal: stop.signal }), {
    message: 'told to stop',
  });
  await t.rejects(
    waitForPath(path, { ...limits, signal: AbortSignal.abort(new Error('before')) }),
    {
      message: 'before',
    },
  );
  await t.rejects(
    waitForFiles([path], () => Promise.reject(new Error('cannot be asked')), {
      ...limits,
      describe: () => '',
    }),
    { message: 'cannot be asked' },
  );
});

t.test('changes of a folder', async (t) => {
  const { signal } = limits;
  await t.test('whatever changes after it was opened is noticed, however soon', async (t) => {
    for (let at = 0; at < 20; at += 1) {
      const folder = t.testdir({ there: '' });
      await using changes = await FolderChanges.open(folder, signal);
      writeFileSync(join(folder, 'new'), '');
      await changes.next(signal);
    }
  });

  await t.test('what changed before somebody waits counts, and counts once', async (t) => {
    const folder = t.testdir({ there: '' });
    await using changes = await FolderChanges.open(folder, signal);
    const first = changes.next(signal);
    writeFileSync(join(folder, 'there'), 'changed');
    await first;
    rmSync(join(folder, 'there'));
    await changes.next(signal);
    const stop = new AbortController();
    const waiting = changes.next(stop.signal);
    stop.abort(new Error('told to stop'));
    await t.rejects(waiting, /told to stop/);
  });

  await t.test('a folder that is made later', async (t) => {
    const folder = join(t.testdir(), 'later');
    await using changes = await FolderChanges.open(folder, signal);
    mkdirSync(folder);
    writeFileSync(join(folder, 'new'), '');
    await changes.next(signal);
  });

  await t.test('it is not opened after its signal', async (t) => {
    const aborted = AbortSignal.abort(new Error('before'));
    await t.rejects(FolderChanges.open(t.testdir(), aborted), /before/);
  });
});
