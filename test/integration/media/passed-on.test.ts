/** The reader and the writer of volumes as processes: what they are given, and what they say. */
import { spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { passedText } from '../../../lib/host/media/write-unprivileged.ts';
import {
  emptyResults,
  RESULT_FILES,
  resultFile,
} from '../../../lib/relocation/site-volume/result.ts';
import { images, skipWithout } from './images.ts';

const skip = await skipWithout('xorriso', 'bsdtar');
const MAIN = join(import.meta.dirname, '../../../agents/main.ts');
/** More than pipes and sockets hold. */
const BYTES = 4 << 20;
const SLOWLY =
  '{ sleep 0.5; head -c 40000 "$1"; sleep 0.5; tail -c +40001 "$1"; } | "$2" "$3" reconfigure read-medium iso9660 - | { sleep 2; tar -xO; }';

t.test('a volume arrives whole, however slowly it is given and taken', { skip }, async (t) => {
  const folder = t.testdir({});
  const contents = randomBytes(BYTES);
  mkdirSync(join(folder, 'files'));
  writeFileSync(join(folder, 'files/site-volume.bin'), contents);
  const image = join(folder, 'image');
  images.iso9660(join(folder, 'files'), image);
  const program = ['-o', 'pipefail', '-c', SLOWLY, 'bash', image, process.execPath, MAIN];
  const { status, stdout } = spawnSync('bash', program, { maxBuffer: 2 * BYTES, timeout: 60_000 });
  const sum = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
  t.equal(sum(stdout), sum(contents));
  t.equal(status, 0);
});

t.test(
  'a result is written where it belongs; why it is not is the last line',
  { skip },
  async (t) => {
    const folder = t.testdir({ files: {} });
    const image = join(folder, 'image');
    for (const [name, contents] of emptyResults(false)) {
      writeFileSync(join(folder, 'files', name), contents);
    }
    images.iso9660(join(folder, 'files'), image);
    const pass = resultFile(RESULT_FILES.text, 'PASS\n');
    const input = passedText([pass]);
    const write = (...medium: string[]) =>
      spawnSync(process.execPath, [MAIN, 'reconfigure', 'write-medium', ...medium], {
        ...{ input, encoding: 'utf8', timeout: 60_000 },
      });
    t.match(write('iso9660', image), { status: 0, stderr: '' });
    t.ok(readFileSync(image).includes(pass.contents));
    const before = readFileSync(image);
    for (const [medium, says] of [
      [['ntfs', image], /^a file system of another kind\n$/],
      [['iso9660', `${image}\u001b[2J`], /^no such file or directory \(ENOENT\)\P{Cc}*\n$/u],
    ] as const) {
      const { status, stderr } = write(...medium);
      t.not(status, 0);
      t.match(stderr, says);
    }
    t.ok(readFileSync(image).equals(before));
  },
);
