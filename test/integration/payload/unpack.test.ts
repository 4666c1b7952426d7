/** Files that `zstd` has compressed, sound and hostile. */
import { existsSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import t, { type Test } from 'tap';
import { sha256 } from '../../../lib/host/files.ts';
import { unpackFile } from '../../../lib/payload/unpack.ts';
import { thrownBy } from '../../unit/base/errors/thrown-by.ts';

const { signal } = new AbortController();
const skip = (await execa('zstd', ['--version'], { reject: false })).code === 'ENOENT' && 'no zstd';

/** What compresses well, and does not fit one piece of a stream. */
const CONTENTS = Array.from({ length: 400_000 }, (_, line) => `line ${line}\n`).join('');

/** A file and what the real program makes of it. */
async function compressed(t: Test, contents = CONTENTS, options: readonly string[] = []) {
  const folder = t.testdir({ plain: contents, out: {} });
  const source = join(folder, 'plain.zst');
  await execa('zstd', ['-q', ...options, join(folder, 'plain'), '-o', source]);
  const file = { path: 'bin/plain', size: contents.length, sha256: sha256(contents) };
  const out = join(folder, 'out');
  const target = join(out, 'plain');
  const unpack = (more: Partial<typeof file> = {}, until = signal) =>
    unpackFile({ source, name: 'bin/plain.zst' }, target, { ...file, ...more }, until);
  return { source, out, target, unpack };
}

t.test('what zstd compressed is the same again', { skip }, async (t) => {
  for (const options of [['-1'], ['-9'], ['--long=27'], ['--no-check']]) {
    const { out, target, unpack } = await compressed(t, CONTENTS, options);
    await unpack();
    t.ok(readFileSync(target, 'utf8') === CONTENTS, options.join(' '));
    t.same(readdirSync(out), ['plain'], 'nothing is left beside it');
  }
});

type Parts = Awaited<ReturnType<typeof compressed>>;
const refused: readonly [name: string, attempt: (parts: Parts) => Promise<void>, says: RegExp][] = [
  [
    'more than is stated',
    ({ unpack }) => unpack({ size: CONTENTS.length - 1 }),
    /bin\/plain: more than the \d+ bytes that are stated/,
  ],
  [
    'less than is stated',
    ({ unpack }) => unpack({ size: CONTENTS.length + 1, sha256: sha256(`${CONTENTS}x`) }),
    /expected SHA-256 \w{64}, found \w{64}/,
  ],
  ['another file', ({ unpack }) => unpack({ sha256: sha256('x') }), /expected SHA-256/],
  [
    'a file that was cut',
    async ({ source, unpack }) => {
      truncateSync(source, readFileSync(source).length - 9);
      await unpack();
    },
    /truncated or damaged zstd data/,
  ],
  [
    'a file that was cut at its beginning',
    async ({ source, unpack }) => {
      truncateSync(source, 0);
      await unpack();
    },
    /expected SHA-256/,
  ],
  [
    'one changed byte',
    async ({ source, unpack }) => {
      const bytes = readFileSync(source);
      const middle = bytes.length >> 1;
      bytes[middle] = (bytes[middle] ?? 0) ^ 1;
      writeFileSync(source, bytes);
      await unpack();
    },
    /truncated or damaged zstd data|expected SHA-256/,
  ],
  [
    'what is not compressed at all',
    async ({ source, unpack }) => {
      writeFileSync(source, 'x');
      await unpack();
    },
    /expected SHA-256/,
  ],
];
for (const [name, attempt, says] of refused) {
  t.test(`refused: ${name}`, { skip }, async (t) => {
    const parts = await compressed(t);
    writeFileSync(join(parts.out, '.plain.new'), 'half, of a process that was killed');
    const failure = await thrownBy(attempt(parts));
    t.match(failure, { kind: 'fatal', code: 'payload-damaged', message: /^bin\/plain\.zst is/ });
    t.match(failure, { message: says });
    t.same(readdirSync(parts.out), [], 'nothing is left');
  });
}

t.test('a bomb does not fill the disk', { skip }, async (t) => {
  const folder = t.testdir({ out: {} });
  const source = join(folder, 'bomb.zst');
  // 1 GiB of zeros.
  await execa('sh', ['-c', `head -c 1073741824 /dev/zero | zstd -q -1 -o "${source}"`]);
  const file = { path: 'bomb', size: 1000, sha256: sha256('x') };
  const unpacked = unpackFile({ source, name: 'bomb.zst' }, join(folder, 'out/bomb'), file, signal);
  await t.rejects(unpacked, { message: /more than the 1000 bytes/ });
  t.same(readdirSync(join(folder, 'out')), []);
});

t.test('ends when it is told to stop, and leaves nothing', { skip }, async (t) => {
  const { out, target, unpack } = await compressed(t);
  const stop = new AbortController();
  const reason = new Error('told to stop');
  const ended = thrownBy(unpack({}, stop.signal));
  stop.abort(reason);
  t.equal(await ended, reason);
  t.notOk(existsSync(target));
  t.same(readdirSync(out), []);
});
