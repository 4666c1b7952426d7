import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import t from 'tap';
import { BundleArchive } from '../../../agents/gather/bundle/archive.ts';
import { BundleFolder } from '../../../agents/gather/bundle/folder.ts';
import { Spooled } from '../../../agents/gather/collecting/spool.ts';
import { memoryStorage } from '../../../agents/gather/collecting/storage.ts';
import { FileOutput, type GatherOutput } from '../../../agents/gather/entrance/output.ts';
import { line } from '../../unit/gather/synthetic.ts';
import { listed, unpacked } from '../../unit/gather/tester.ts';

const text = (lines: number) => Array.from({ length: lines }, (_, at) => line(at)).join('');

async function spooledOf(contents: string, gzipped = false): Promise<Spooled> {
  const room = { left: 1 << 30 };
  const spooled = new Spooled(room, { format: 'text', gzipped });
  async function* chunks() {
    yield Buffer.from(contents);
  }
  const place = { storage: memoryStorage, room };
  await spooled.fill(chunks(), { keep: 'newest', limitBytes: 1 << 30 }, place);
  return spooled;
}

/** All kinds of entries in one bundle, by name. */
async function fill(archive: BundleArchive): Promise<void> {
  await archive.addText('first.txt', 'ü first\n');
  await archive.addSpooled('empty-parent/small.log', await spooledOf(text(3)), false);
  await archive.addSpooled('large.log', await spooledOf(text(40_000)), false);
  await archive.addSpooled(
    `${'long-name/'.repeat(20)}${'n'.repeat(150)}.log`,
    await spooledOf('long\n'),
    false,
  );
  await archive.addSpooled('names/ünïcode 名.log', await spooledOf('unicode\n'), false);
  await archive.addSpooled('journal.log.gz', await spooledOf(text(40_000), true), true);
  await archive.addText('last.txt', 'last\n');
}

// Starts many processes and writes megabytes, possibly on a busy machine.

t.test('GNU tar reads every kind of entry', async (t) => {
  const path = join(t.testdir(), 'bundle.tar.gz');
  const output = await FileOutput.create(path);
  const archive = new BundleArchive('log-bundle-x', output, new Date(86_400_000));
  await fill(archive);
  await archive.close();
  t.throws(() => statSync(path), 'it has no name before it is whole');
  await output.commit();
  t.equal(statSync(path).size, archive.bytes, 'it knows its size');
  t.equal(statSync(path).mode & 0o7777, 0o600);
  t.strictSame(readdirSync(join(path, '..')), ['bundle.tar.gz'], 'nothing lies beside it');
  t.equal(listed(path).length, 7);
  t.equal(unpacked(path, 'log-bundle-x/first.txt'), 'ü first\n');
  t.equal(unpacked(path, 'log-bundle-x/large.log'), text(40_000));
  t.equal(
    unpacked(path, `log-bundle-x/${'long-name/'.repeat(20)}${'n'.repeat(150)}.log`),
    'long\n',
  );
  t.equal(unpacked(path, 'log-bundle-x/names/ünïcode 名.log'), 'unicode\n');
  const inner = execFileSync('tar', ['xzOf', path, 'log-bundle-x/journal.log.gz'], {
    maxBuffer: 1 << 28,
  });
  t.equal(gunzipSync(inner).toString(), text(40_000));
  t.ok(archive.bytes < inner.length * 2.2, 'what is compressed is not inflated again');
  const verbose = execFileSync('tar', ['tvzf', path], { encoding: 'utf8' });
  t.match(verbose, /^-rw------- 0\/0 .* 1970-01-0[12] .* log-bundle-x\/first.txt$/m);
});

t.test('truncated anywhere, it is readable up to that point', async (t) => {
  const folder = t.testdir();
  const whole = join(folder, 'whole');
  const output = await FileOutput.create(whole);
  const archive = new BundleArchive('b', output, new Date());
  await fill(archive);
  await archive.close();
  await output.commit();
  const bytes = readFileSync(whole);
  const counts: number[] = [];
  for (let share = 1; share <= 20; share++) {
    const path = join(folder, 'cut');
    writeFileSync(path, bytes.subarray(0, Math.floor((bytes.length * share) / 20)));
    counts.push(
      spawnSync('tar', ['tzf', path], { encoding: 'utf8' }).stdout.split('\n').length - 1,
    );
  }
  t.strictSame(
    counts.toSorted((a, b) => a - b),
    counts,
    `${counts}`,
  );
  t.ok((counts[4] ?? 0) >= 2, 'a quarter is enough for the first ones');
});

/** A disk with that many bytes, of which `spare` are freed when a file is taken back. */
class FullDisk implements GatherOutput {
  contents = Buffer.alloc(0);
  #size: number;
  #spare: number;

  constructor(size: number, spare: number) {
    this.#size = size;
    this.#spare = spare;
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (this.contents.length + bytes.length > this.#size) {
      this.contents = Buffer.concat([this.contents, bytes]).subarray(0, this.#size);
      throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
    }
    this.contents = Buffer.concat([this.contents, bytes]);
  }

  async takeBack(length: number): Promise<void> {
    this.contents = this.contents.subarray(0, length);
    this.#size += this.#spare;
    this.#spare = 0;
  }
}

t.test(
  'a disk that becomes full has a complete archive of what fitted, with its log',
  async (t) => {
    const folder = t.testdir();
    for (const size of [1, 1000, 100_000, 300_000]) {
      const disk = new FullDisk(size, 20_000);
      const archive = new BundleArchive('b', disk, new Date());
      const kept: string[] = [];
      for (const name of ['one', 'two', 'three', 'four']) {
        try {
          await archive.addSpooled(name, await spooledOf(text(10_000)), false);
          kept.push(name);
        } catch (error) {
          t.match(error, { name: 'LeftOut', message: /^left out: / });
        }
      }
      t.ok(kept.length < 4, `${kept} fit into ${size}`);
      await archive.addText('gather.log', 'why\n');
      await archive.close();
      const path = join(folder, String(size));
      writeFileSync(path, disk.contents);
      t.strictSame(
        listed(path),
        [...kept, 'gather.log'].map((name) => `b/${name}`),
      );
      for (const name of kept) t.equal(unpacked(path, `b/${name}`), text(10_000));
    }
  },
);

t.test('a stream that breaks ends the bundle', async (t) => {
  const broken: GatherOutput = {
    write: async () => {
      throw Object.assign(new Error('write EPIPE'), { code: 'EPIPE' });
    },
  };
  const archive = new BundleArchive('b', broken, new Date());
  await t.rejects(archive.addSpooled('large', await spooledOf(text(20_000)), false), {
    code: 'EPIPE',
  });
});

t.test('nothing at the target is followed or written into', async (t) => {
  const folder = t.testdir({ precious: 'precious', dir: {} });
  const target = join(folder, 'bundle');
  symlinkSync(join(folder, 'precious'), target);
  const output = await FileOutput.create(target);
  const archive = new BundleArchive('b', output, new Date());
  await archive.addText('a', 'a');
  await archive.close();
  await output.commit();
  t.equal(readFileSync(join(folder, 'precious'), 'utf8'), 'precious');
  t.strictSame(listed(target), ['b/a']);
  await t.rejects(FileOutput.create(join(folder, 'dir')), {
    kind: 'usage',
    message: /found a folder/,
  });
  t.strictSame(readdirSync(folder).toSorted(), ['bundle', 'dir', 'precious']);
});

t.test('a folder of files', async (t) => {
  const folder = t.testdir({
    out: { 'old.log': 'old', in: 'a file in the way' },
    elsewhere: { 'x.log': 'precious' },
  });
  const out = join(folder, 'out');
  symlinkSync(join(folder, 'elsewhere'), join(out, 'linked'));
  symlinkSync(join(folder, 'elsewhere/x.log'), join(out, 'x.log'));
  const sink = new BundleFolder(out);
  for (const name of ['old.log', 'x.log']) {
    await t.rejects(sink.addText(name, 'new'), { name: 'LeftOut', message: /EEXIST/ });
  }
  await sink.addSpooled('deep/er/large.log', await spooledOf(text(20_000)), false);
  await sink.addSpooled('journal.log.gz', await spooledOf(text(20_000), true), true);
  await t.rejects(sink.addText('linked/x.log', 'mine'), {
    name: 'LeftOut',
    message: /linked is in the way/,
  });
  await t.rejects(sink.addText('in/x.log', 'mine'), {
    name: 'LeftOut',
    message: /in is in the way/,
  });
  await sink.close();
  t.equal(
    readFileSync(join(folder, 'elsewhere/x.log'), 'utf8'),
    'precious',
    'links are not followed',
  );
  t.equal(readFileSync(join(out, 'old.log'), 'utf8'), 'old', 'nothing is overwritten');
  t.equal(readFileSync(join(out, 'deep/er/large.log'), 'utf8'), text(20_000));
  t.equal(gunzipSync(readFileSync(join(out, 'journal.log.gz'))).toString(), text(20_000));
  t.equal(statSync(join(out, 'deep/er')).mode & 0o777, 0o700);
  t.equal(statSync(join(out, 'deep/er/large.log')).mode & 0o777, 0o600);
});
