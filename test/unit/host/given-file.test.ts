/** What a person names with an option: a file, or a pipe as a shell makes one of `<(…)`. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { readGivenFile, readSmallFile } from '../../../lib/host/given-file.ts';
import { thrownBy } from '../base/errors/thrown-by.ts';
import { type StoppedClock, stopClock } from '../clients/kube/stopped-clock.ts';

function pipeIn(t: Test): string {
  const path = join(t.testdir(), 'pipe');
  execFileSync('mkfifo', [path]);
  return path;
}

/** Lets time pass until it has ended. */
async function ended<T>(clock: StoppedClock, promise: Promise<T>): Promise<T> {
  let isOver = false;
  const over = promise.then(
    () => undefined,
    () => undefined,
  );
  void over.then(() => {
    isOver = true;
  });
  for (;;) {
    await Promise.race([over, clock.sleeping()]);
    if (isOver) return promise;
    clock.pass(20);
  }
}

t.test('a pipe is read to its end, however slowly it is written', async (t) => {
  const path = pipeIn(t);
  const clock = stopClock(t);
  const read = readGivenFile(path, '--identity');
  await clock.sleeping();
  const writer = await open(path, 'w');
  await writer.writeFile('one ');
  // Longer than it waits for a writer.
  for (let waited = 0; waited < 20_000; ) waited += await clock.wake();
  await writer.writeFile('two');
  await writer.close();
  t.equal(await ended(clock, read), 'one two');
});

t.test('a pipe that was written before it is read', async (t) => {
  const path = pipeIn(t);
  const written = writeFile(path, 'x'.repeat(100_000));
  t.equal((await readGivenFile(path, '--identity')).length, 100_000);
  await written;
});

t.test('a pipe without a writer, or without an end, is not waited for in vain', async (t) => {
  const path = pipeIn(t);
  const clock = stopClock(t);
  const began = clock.now;
  const nobody = thrownBy(readGivenFile(path, '--identity'));
  t.match(await ended(clock, nobody), {
    kind: 'usage',
    message: /^--identity \S+pipe is a pipe without an end;.*nobody writes to it/,
  });
  t.ok(clock.now - began <= 11_000, 'within seconds');
  const endless = thrownBy(readGivenFile(path, '--identity'));
  await clock.sleeping();
  const writer = await open(path, 'w');
  t.match(await ended(clock, endless), { kind: 'usage', message: /its writer has not ended/ });
  await writer.close();
});

t.test('a byte order mark is no part of the text', async (t) => {
  const path = join(t.testdir(), 'file');
  for (const [text, read] of [
    ['\uFEFF{}', '{}'],
    ['{}\uFEFF', '{}\uFEFF'],
  ] as const) {
    writeFileSync(path, text);
    t.equal(await readGivenFile(path, '--settings'), read);
  }
});

t.test('told to stop, it does not wait', async (t) => {
  const path = pipeIn(t);
  const stop = new AbortController();
  const thrown = thrownBy(readGivenFile(path, '--identity', { signal: stop.signal }));
  stop.abort(new Error('stopped'));
  t.match(await thrown, { message: 'stopped' });
});

t.test('refused: too much, and what is neither a file nor a pipe', async (t) => {
  const path = pipeIn(t);
  const written = writeFile(path, 'x'.repeat(300_000)).catch(() => undefined);
  const failure = await thrownBy(readGivenFile(path, '--csr', { mostBytes: 1000 }));
  t.match(failure, { kind: 'usage', message: /^--csr \S+ is too large.*at most 1000 bytes/ });
  await written;
  const dir = t.testdir({});
  mkdirSync(join(dir, 'folder'));
  writeFileSync(join(dir, 'large'), 'x'.repeat(1001));
  symlinkSync('circle', join(dir, 'circle'));
  for (const [name, says] of [
    [join(dir, 'folder'), /not a regular file.*found a folder/],
    [join(dir, 'large'), /is too large.*found 1001/],
    [join(dir, 'circle'), /cannot be read.*too many symbolic links \(ELOOP\)/],
    [join(dir, 'large/x'), /cannot be read.*not a directory \(ENOTDIR\)/],
    [join(dir, 'x'.repeat(300)), /cannot be read.*name too long \(ENAMETOOLONG\)/],
    ['/dev/zero', /not a regular file.*found a device/],
  ] as const) {
    t.match(await thrownBy(readGivenFile(name, '--csr', { mostBytes: 1000 })), {
      kind: 'usage',
      message: says,
    });
  }
  t.match(await thrownBy(readSmallFile(pipeIn(t), 'The manifest')), { message: /found a FIFO/ });
});
