import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execaSync } from 'execa';
import t from 'tap';
import { writeTarball } from '../../../../build/release/tarball.ts';

const signal = new AbortController().signal;
const mtime = new Date('2030-01-02T03:04:05Z');
const entries = [
  { path: 'a/bin/sno', mode: 0o755, contents: Buffer.alloc(200_000, 'x') },
  { path: 'a/LICENSE', contents: 'words' },
  { path: 'a/bin/gather', contents: { link: 'sno' } },
];

t.test('a tarball depends only on its entries and its time', async (t) => {
  const folder = t.testdir();
  const [one, two] = [join(folder, 'one.tar.gz'), join(folder, 'two.tar.gz')];
  await writeTarball(one, entries, mtime, signal);
  await writeTarball(two, entries.toReversed(), mtime, signal);
  t.ok(readFileSync(one).equals(readFileSync(two)));
  const options = { env: { TZ: 'UTC', LC_ALL: 'C' }, timeout: 60_000 };
  const { stdout } = execaSync('tar', ['-tvzf', one], options);
  t.strictSame(
    stdout.split('\n').map((line) => line.replaceAll(/\s+/g, ' ')),
    [
      '-rw-r--r-- root/root 5 2030-01-02 03:04 a/LICENSE',
      'lrwxrwxrwx root/root 0 2030-01-02 03:04 a/bin/gather -> sno',
      '-rwxr-xr-x root/root 200000 2030-01-02 03:04 a/bin/sno',
    ],
  );
});
