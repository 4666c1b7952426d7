/** The reader of a volume that comes by a network: a process between two pipes, whose ends are slow. */
import { spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
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
