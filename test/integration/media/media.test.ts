import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { readMedium } from '../../../lib/host/media/read-medium.ts';
import { VOLUME_LIMITS } from '../../../lib/relocation/site-volume/volume.ts';
import { chainTo, damagedFats, enlarge, overwrite, tarText } from './damage.ts';
import { changeExt4, images, quietly, skipWithout } from './images.ts';

type Kind = keyof typeof images;
const KINDS = ['iso9660', 'ext4', 'vfat'] as const satisfies readonly Kind[];
const skip = await skipWithout('xorriso', 'bsdtar', 'mformat');

const FILES = {
  'site-config.yaml': 'apiVersion: sno-agents/v1\n',
  'site-volume.json': '{}\n',
  'extra-manifests/10-a-longer-name.yaml': 'x'.repeat(100_000),
  'credentials/admin.csr': 'pem\n',
};

type Fill = (folder: string) => void;
const put = (folder: string, name: string, contents: string | Buffer = 'x') => {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), contents);
};
const plain: Fill = (folder) => {
  for (const [name, contents] of Object.entries(FILES)) put(folder, name, contents);
};

function imageOf(t: Test, kind: Kind, fill: Fill): string {
  const folder = t.testdir({ files: {} });
  fill(join(folder, 'files'));
  const image = join(folder, 'image');
  images[kind](join(folder, 'files'), image);
  return image;
}

const read = (kind: string, device: string, deadlineMs = 20_000) =>
  readMedium({ device, fileSystem: kind }, VOLUME_LIMITS, {
    signal: AbortSignal.timeout(deadlineMs),
    deadlineMs,
  });

for (const kind of KINDS) {
  t.test(`${kind}: all files are read, without what operating systems add`, { skip }, async (t) => {
    const image = imageOf(t, kind, (folder) => {
      plain(folder);
      put(folder, 'System Volume Information/IndexerVolumeGuid');
      put(folder, '.Trashes/501/x');
      put(folder, '._site-config.yaml');
    });
    const files = await read(kind, image);
    t.same(
      Object.fromEntries([...files].map(([name, bytes]) => [name, Buffer.from(bytes).toString()])),
      FILES,
    );
  });

  t.test(`${kind}: 64 files, 16 MiB and no more`, { skip }, async (t) => {
    const many = (count: number) => (folder: string) => {
      for (let at = 0; at < count; at++) put(folder, `file-${at}`);
    };
    t.equal((await read(kind, imageOf(t, kind, many(64)))).size, 64);
    await t.rejects(read(kind, imageOf(t, kind, many(65))), {
      code: 'medium-refused',
      details: { found: 'more than 64 files' },
    });
    const large = (bytes: number) => (folder: string) => {
      put(folder, 'a', Buffer.alloc(bytes / 2, 1));
      put(folder, 'b', Buffer.alloc(bytes / 2, 2));
    };
    const read16 = await read(kind, imageOf(t, kind, large(16 << 20)));
    const digest = createHash('sha256')
      .update(read16.get('b') ?? '')
      .digest('hex');
    t.equal(
      digest,
      createHash('sha256')
        .update(Buffer.alloc(8 << 20, 2))
        .digest('hex'),
    );
    await t.rejects(read(kind, imageOf(t, kind, large((16 << 20) + 2))), {
      code: 'medium-refused',
      details: { found: 'more than 16777216 bytes' },
    });
  });
}

/** Media that are refused, and the beginning of the reason. */
const HOSTILE: readonly {
  readonly name: string;
  readonly kind: Kind;
  readonly fill?: Fill;
  readonly change?: (image: string) => void;
  readonly says: RegExp;
}[] = [
  ...(['iso9660', 'ext4'] as const).flatMap((kind) => [
    {
      name: 'a link to a file of the host',
      kind,
      fill: (folder: string) => symlinkSync('/etc/shadow', join(folder, 'site-volume.json')),
      says: /"site-volume.json", which is no regular file but a symlink/,
    },
    {
      name: 'a link to a folder of the host',
      kind,
      fill: (folder: string) => symlinkSync('/etc', join(folder, 'extra-manifests')),
      says: /"extra-manifests", which is no regular file but a symlink/,
    },
    {
      name: 'a device',
      kind,
      fill: (folder: string) =>
        void execFileSync('mknod', [join(folder, 'disk'), 'b', '8', '0'], { stdio: 'ignore' }),
      says: /"disk", which is no regular file but a block/,
    },
    {
      name: 'a pipe',
      kind,
      fill: (folder: string) =>
        void execFileSync('mkfifo', [join(folder, 'pipe')], { stdio: 'ignore' }),
      says: /"pipe", which is no regular file but a/,
    },
    {
      name: 'folders in folders',
      kind,
      fill: (folder: string) => put(folder, 'a/b/c/d/e/f/g'),
      says: /folders in folders|a file with the name/,
    },
    {
      name: 'a name with a line break',
      kind,
      fill: (folder: string) => put(folder, 'a\nb'),
      says: /a file with the name|cannot list/,
    },
    {
      name: 'a name with a space and a quote',
      kind,
      fill: (folder: string) => put(folder, 'a "b'),
      says: /a file with the name/,
    },
    {
      name: 'a sparse file of 10 GB',
      kind,
      fill: (folder: string) => {
        put(folder, 'sparse', '');
        // An ISO would have all its bytes.
        truncateSync(join(folder, 'sparse'), kind === 'ext4' ? 10e9 : 17 << 20);
      },
      says: /more than 16777216 bytes/,
    },
    {
      name: 'more folders than are looked at',
      kind,
      fill: (folder: string) => {
        for (let at = 0; at < 40; at++) mkdirSync(join(folder, `folder-${at}`));
      },
      says: /more than 32 folders/,
    },
  ]),
  {
    name: 'a hard link that makes the bytes count twice',
    kind: 'ext4',
    fill: (folder) => {
      put(folder, 'a', Buffer.alloc(9 << 20));
      linkSync(join(folder, 'a'), join(folder, 'b'));
    },
    says: /more than 16777216 bytes/,
  },
  {
    name: 'a size that the file does not have',
    kind: 'ext4',
    change: (image) => changeExt4(image, 'sif site-volume.json size 99999999'),
    says: /more than 16777216 bytes/,
  },
  {
    name: 'a folder that is its own parent',
    kind: 'ext4',
    change: (image) => changeExt4(image, 'link extra-manifests extra-manifests/again'),
    says: /folders in folders|a file with the name|which is no regular/,
  },
  {
    name: 'a damaged superblock',
    kind: 'ext4',
    change: (image) => overwrite(image, 1024, 1024),
    says: /debugfs/,
  },
  {
    name: 'an ISO cut off in its files',
    kind: 'iso9660',
    change: (image) => truncateSync(image, 64 << 10),
    says: /damaged|bsdtar|truncated/,
  },
  {
    name: 'an ISO without descriptors',
    kind: 'iso9660',
    change: (image) => overwrite(image, 32 << 10, 16 << 10),
    says: /not an ISO 9660/,
  },
  ...[
    {
      name: 'mtree, which names files of the host',
      text: '#mtree\n./a type=file contents=/etc/passwd\n',
    },
    { name: 'a tar archive', text: tarText() },
    { name: 'nothing', text: '' },
    {
      name: 'a shell archive after 32 KiB',
      text: `${'\0'.repeat(32 << 10)}#mtree\n./a type=dir\n`,
    },
    { name: 'a magic without the type', text: `${'\0'.repeat(32 << 10)}\0CD001\x01` },
  ].map(({ name, text }) => ({
    name: `${name} in place of an ISO`,
    kind: 'iso9660' as const,
    change: (image: string) => writeFileSync(image, text, 'latin1'),
    says: /not an ISO 9660/,
  })),
  {
    name: 'an ISO with a file beyond what is searched',
    kind: 'iso9660',
    change: (image) => enlarge(image),
    says: /bsdtar|damaged|truncated|not a/,
  },
  {
    name: 'a folder whose chain leads back into itself',
    kind: 'vfat',
    change: (image) => chainTo(image, 'extra-manifests', 'itself'),
    says: /damaged file system: the folder "extra-manifests" leads back into itself/,
  },
  {
    name: 'a file whose chain leads back into itself',
    kind: 'vfat',
    change: (image) => chainTo(image, 'extra-manifests/10-a-longer-name.yaml', 'itself'),
    says: /damaged file system: "extra-manifests\/10-a-longer-name.yaml" leads back into itself/,
  },
  {
    name: 'a file whose chain leads outside',
    kind: 'vfat',
    change: (image) => chainTo(image, 'extra-manifests/10-a-longer-name.yaml', 'outside'),
    says: /damaged file system: .*leads outside/,
  },
  {
    name: 'a FAT without its first sector',
    kind: 'vfat',
    change: (image) => overwrite(image, 0, 512),
    says: /no file system/,
  },
  ...damagedFats,
];

for (const { name, kind, fill, change, says } of HOSTILE) {
  t.test(`refused: ${kind}: ${name}`, { skip }, async (t) => {
    const image = imageOf(t, kind, fill ?? plain);
    change?.(image);
    const before = createHash('sha256').update(readFileSync(image)).digest('hex');
    const failure = await read(kind, image).then(
      (files) => new Failure('bug', 'it was read', { found: [...files.keys()].join() }),
      (error: unknown) => error,
    );
    if (!(failure instanceof Failure)) throw failure;
    t.equal(failure.kind, 'usage', failure.message);
    t.match(failure.details.found, says);
    const after = createHash('sha256').update(readFileSync(image)).digest('hex');
    t.equal(after, before, 'the medium is only read');
  });
}

t.test('an ISO is read without what precedes its descriptors', { skip }, async (t) => {
  const image = imageOf(t, 'iso9660', plain);
  const text = Buffer.from('#mtree\n./passwd type=file contents=/etc/passwd\n');
  writeSync(openSync(image, 'r+'), text, 0, text.length, 0);
  t.strictSame([...(await read('iso9660', image)).keys()].sort(), Object.keys(FILES).sort());
});

for (const [name, sectors, ...options] of [
  ['FAT12', '4000', '-c', '4'],
  ['FAT16, of large clusters', '400000', '-c', '32'],
  ['FAT32', '200000', '-F', '-c', '1'],
] as const) {
  t.test(`vfat: ${name}`, { skip }, async (t) => {
    const image = imageOf(t, 'vfat', plain);
    const again = `${image}-2`;
    execFileSync('mformat', ['-C', '-i', again, '-T', sectors, ...options, '::'], quietly);
    const files = Object.entries(FILES).map(([path]) => path.split('/')[0] ?? '');
    const folder = join(dirname(image), 'files');
    const sources = [...new Set(files)].map((file) => join(folder, file));
    execFileSync('mcopy', ['-s', '-i', again, ...sources, '::'], quietly);
    const found = await read('vfat', again);
    t.same(
      Object.fromEntries([...found].map(([name, bytes]) => [name, Buffer.from(bytes).toString()])),
      FILES,
    );
  });
}

for (const kind of ['vfat', 'iso9660'] as const) {
  t.test(`${kind}: whatever is changed, it is read or refused`, { skip }, async (t) => {
    const image = imageOf(t, kind, plain);
    const sound = readFileSync(image);
    // The parts that describe the files: of FAT, boot sector, tables, and folders; of an ISO, descriptors and folders.
    const [from, to] = kind === 'vfat' ? [0, 400 << 10] : [32 << 10, 72 << 10];
    let seed = 1;
    const random = (below: number) => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    const outcomes = new Set<string>();
    for (let round = 0; round < (kind === 'vfat' ? 300 : 12); round++) {
      const changed = Buffer.from(sound);
      for (let at = 0; at < 40; at++) {
        // Mostly where bytes are used.
        const offset = from + random(to - from);
        const used = changed.subarray(offset, to).findIndex((byte) => byte !== 0);
        changed[offset + Math.max(used, 0)] = random(256);
      }
      writeFileSync(image, changed);
      const outcome = await read(kind, image).then(
        () => 'read',
        (error: unknown) => {
          if (!(error instanceof Failure) || error.code !== 'medium-refused') throw error;
          return 'refused';
        },
      );
      outcomes.add(outcome);
    }
    t.ok(outcomes.has('refused'));
  });
}

t.test('refused: any other file system', async (t) => {
  for (const kind of ['xfs', 'ntfs', 'crypto_LUKS', '', '__proto__']) {
    await t.rejects(read(kind, '/dev/null'), { kind: 'usage', code: 'medium-refused' });
  }
});
