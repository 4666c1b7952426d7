import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { readImageArchive } from '../../../../lib/payload/image/archive.ts';
import { placedImages } from '../../../../lib/payload/image/places.ts';
import { dockerArchive, type Entries, layerOf, tarOf } from './archives.ts';

const signal = AbortSignal.timeout(60_000);

t.test(
  'files are found where they stand, and images as the whole reading finds them',
  async (t) => {
    const path = join(t.testdir(), 'a.tar');
    // Of sizes at, before and after the end of a block.
    const layers = await Promise.all(
      [511, 512, 513, 4096].map((size) => layerOf('x'.repeat(size))),
    );
    const entries = await dockerArchive([
      ...layers.map((layer, at) => ({ references: [`r.test/${at}:1`], layer })),
      { references: ['r.test/empty:1'], layer: Buffer.alloc(0) },
    ]);
    writeFileSync(path, await tarOf(entries));
    const found = await placedImages(path);
    t.strictSame(found?.images, (await readImageArchive(path, signal)).images);
    const bytes = readFileSync(path);
    for (const [name, contents] of entries) {
      if (typeof contents !== 'string' && !Buffer.isBuffer(contents)) continue;
      const { start = 0, size = -1 } = found?.places.get(name) ?? {};
      t.same(bytes.subarray(start, start + size), Buffer.from(contents), name);
    }
  },
);

t.test(
  'anything that is not plain files in an uncompressed archive is left to the whole reading',
  async (t) => {
    const path = join(t.testdir(), 'a.tar');
    const sound = await dockerArchive([{ references: ['r.test/a:1'] }]);
    const tar = await tarOf(sound);
    const others: Record<string, Buffer> = {
      compressed: gzipSync(tar),
      empty: Buffer.alloc(0),
      'cut in a header': tar.subarray(0, 700),
      'a link': await tarOf([...sound, ['link', { type: 'symlink', linkname: 'manifest.json' }]]),
      'a folder': await tarOf([...sound, ['folder', { type: 'directory' }]]),
      'a long name': await tarOf([...sound, [`${'n'.repeat(120)}/${'m'.repeat(120)}`, 'text']]),
      'a name twice': await tarOf([...sound, ...sound]),
      'no tar': Buffer.alloc(2048, 'x'),
      'documents beyond the limit': await tarOf([
        ...sound,
        ...Array.from({ length: 9 }, (_, index): Entries[number] => [
          `${index}.json`,
          `{${' '.repeat(4 * 2 ** 20 - 1)}`,
        ]),
      ]),
      'too many files': await tarOf(
        Array.from({ length: 2001 }, (_, index): Entries[number] => [`${index}`, '']),
      ),
    };
    for (const [what, bytes] of Object.entries(others)) {
      writeFileSync(path, bytes);
      t.equal(await placedImages(path), undefined, what);
    }
    writeFileSync(path, await tarOf([['other', 'text']]));
    await t.rejects(placedImages(path), /neither manifest\.json/);
  },
);
