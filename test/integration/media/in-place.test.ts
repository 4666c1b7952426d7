/** What is written to a medium goes where the file lies, on real file systems, and nowhere else. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { overwriteFiles } from '../../../lib/host/media/in-place/overwrite.ts';
import { readMedium } from '../../../lib/host/media/read-medium.ts';
import { emptyResults, resultFile } from '../../../lib/relocation/site-volume/result.ts';
import { VOLUME_LIMITS } from '../../../lib/relocation/site-volume/volume.ts';
import { changeExt4, images, skipWithout } from './images.ts';

type Kind = keyof typeof images;
const KINDS = ['iso9660', 'ext4', 'vfat'] as const satisfies readonly Kind[];
const skip = await skipWithout('xorriso', 'bsdtar', 'mformat');
const time = () => ({ signal: AbortSignal.timeout(20_000), deadlineMs: 20_000 });

const NAME = 'sno-result.txt';
const RESULT = resultFile(NAME, '\nPASS: the node has the configuration of its site.\n');
const MORE = resultFile('sno-kubeconfig.yaml', 'apiVersion: v1\n');

type Fill = (folder: string) => void;
const volume: Fill = (folder) => {
  mkdirSync(join(folder, 'extra-manifests'), { recursive: true });
  writeFileSync(join(folder, 'site-volume.json'), '{}');
  writeFileSync(join(folder, 'extra-manifests', 'a.yaml'), 'x'.repeat(50_000));
  for (const [name, contents] of emptyResults(true)) writeFileSync(join(folder, name), contents);
};

function imageOf(t: Test, kind: Kind, fill: Fill = volume): string {
  const folder = t.testdir({ files: {} });
  fill(join(folder, 'files'));
  const image = join(folder, 'image');
  images[kind](join(folder, 'files'), image);
  return image;
}

const texts = async (kind: string, device: string) => {
  const files = await readMedium({ device, fileSystem: kind }, VOLUME_LIMITS, time());
  return new Map([...files].map(([name, bytes]) => [name, `${Buffer.from(bytes)}`]));
};

for (const kind of KINDS) {
  t.test(`${kind}: the room is filled, everything else stays`, { skip }, async (t) => {
    const image = imageOf(t, kind);
    const before = { bytes: readFileSync(image), texts: await texts(kind, image) };
    for (const text of ['FAIL: no link on eno1\n', 'PASS\n']) {
      const result = resultFile(NAME, text);
      await overwriteFiles({ device: image, fileSystem: kind }, [result, MORE], time());
      const expected = new Map(before.texts);
      expected.set(NAME, `${result.contents}`);
      expected.set(MORE.name, `${MORE.contents}`);
      t.same(await texts(kind, image), expected);
    }
    const after = readFileSync(image);
    t.equal(after.length, before.bytes.length);
    const rooms = [...emptyResults(true).values()].map((bytes) => before.bytes.indexOf(bytes));
    const differs = (at: number) => after[at] !== before.bytes[at];
    const outside = Array.from(after.keys()).filter(
      (at) => differs(at) && !rooms.some((room) => at >= room && at < room + 8192),
    );
    t.same(outside, [], 'not one byte of the file system itself');
  });
}

t.test('vfat: a file in many pieces, on a floppy', { skip }, async (t) => {
  const folder = t.testdir({ files: {} });
  const image = join(folder, 'image');
  const run = (program: string, ...args: string[]) => execFileSync(program, args);
  run('mformat', '-C', '-f', '1440', '-i', image, '-v', 'SITE-CONFIG', '::');
  writeFileSync(join(folder, 'x'), 'x');
  for (let at = 0; at < 40; at++) run('mcopy', '-i', image, join(folder, 'x'), `::/x${at}`);
  for (let at = 0; at < 40; at += 2) run('mdel', '-i', image, `::/x${at}`);
  writeFileSync(join(folder, NAME), emptyResults(true).get(NAME) ?? '');
  run('mcopy', '-i', image, join(folder, NAME), '::');
  await overwriteFiles({ device: image, fileSystem: 'vfat' }, [RESULT], time());
  const files = await texts('vfat', image);
  t.equal(files.get(NAME), `${RESULT.contents}`);
  t.same([...files.values()].filter((text) => text === 'x').length, 20);
});

/** Media that are not written to. */
const REFUSED: readonly {
  readonly name: string;
  readonly kind: Kind;
  readonly fill?: Fill;
  readonly change?: (image: string) => void;
}[] = [
  ...KINDS.flatMap((kind) => [
    {
      name: 'no room for the result',
      kind,
      fill: (folder: string) => {
        writeFileSync(join(folder, 'site-volume.json'), '{}');
      },
    },
    {
      name: "somebody's file of the same name",
      kind,
      fill: (folder: string) => {
        volume(folder);
        writeFileSync(join(folder, NAME), 'y'.repeat(8192));
      },
    },
    {
      name: 'a shorter file',
      kind,
      fill: (folder: string) => {
        volume(folder);
        writeFileSync(join(folder, NAME), RESULT.contents.subarray(0, 100));
      },
    },
  ]),
  ...(['ext4', 'iso9660'] as const).map((kind) => ({
    name: 'a link',
    kind,
    fill: (folder: string) => {
      symlinkSync('/etc/passwd', join(folder, NAME));
    },
  })),
  {
    name: 'the room of one file only',
    kind: 'iso9660',
    fill: (folder) => {
      writeFileSync(join(folder, NAME), emptyResults(true).get(NAME) ?? '');
    },
  },
  {
    name: 'blocks beyond the medium',
    kind: 'ext4',
    change: (image) =>
      changeExt4(image, `set_inode_field /${NAME} flags 0`, `sif /${NAME} block[0] 9999999`),
  },
  {
    name: 'a block size that no file system has',
    kind: 'ext4',
    change: (image) => overwrite(image, 1024 + 24, Buffer.alloc(4, 0xff)),
  },
  {
    name: 'an ISO cut off behind its descriptors',
    kind: 'iso9660',
    change: (image) => truncateSync(image, 40 << 10),
  },
  {
    name: 'an ISO whose Joliet folder is far away',
    kind: 'iso9660',
    change: (image) => overwrite(image, 17 * 2048 + 156 + 2, Buffer.alloc(4, 0xff)),
  },
  {
    name: 'a FAT whose tables are zero',
    kind: 'vfat',
    change: (image) => overwrite(image, 512, Buffer.alloc(160 << 10)),
  },
  {
    name: 'a FAT without its first sector',
    kind: 'vfat',
    change: (image) => overwrite(image, 0, Buffer.alloc(512)),
  },
];

function overwrite(image: string, at: number, bytes: Buffer): void {
  const contents = readFileSync(image);
  bytes.copy(contents, at);
  writeFileSync(image, contents);
}

for (const { name, kind, fill, change } of REFUSED) {
  t.test(`${kind}, nothing is written: ${name}`, { skip }, async (t) => {
    const image = imageOf(t, kind, fill);
    change?.(image);
    const before = readFileSync(image);
    const target = { device: image, fileSystem: kind };
    await t.rejects(overwriteFiles(target, [RESULT, MORE], time()));
    t.ok(readFileSync(image).equals(before));
  });
}

t.test(
  'nothing is written to another kind of file system, or behind a link',
  { skip },
  async (t) => {
    const image = imageOf(t, 'ext4');
    for (const fileSystem of ['xfs', 'constructor', '']) {
      await t.rejects(overwriteFiles({ device: image, fileSystem }, [RESULT], time()));
    }
    const link = `${image}-link`;
    symlinkSync(image, link);
    await t.rejects(overwriteFiles({ device: link, fileSystem: 'ext4' }, [RESULT], time()), {
      code: 'ELOOP',
    });
  },
);
