import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Failure } from '../../lib/base/errors/failure.ts';
import { sha256OfFiles } from '../../lib/host/digests.ts';
import { readLayers } from '../../lib/payload/image/archive.ts';
import type { ArchivedImage } from '../../lib/payload/image/contents.ts';
import { writeImageArchive } from '../../lib/payload/image/write.ts';
import type { ChosenImage } from './choose-image.ts';

/**
 * Writes one image of the archive `source` to a docker archive of its own, with its
 * layers decompressed and verified against the image's digests. Returns its id.
 * @throws Failure (usage) that names what differs.
 */
export async function copyPayloadImage(
  source: string,
  { image, reference }: ChosenImage,
  target: string,
  signal: AbortSignal,
): Promise<string> {
  const work = await mkdtemp(join(dirname(target), '.layers-'));
  try {
    const files = await unpackLayers(source, image, work, signal);
    const digests = await sha256OfFiles([...files.values()], signal);
    const layers = image.layers.map(({ entry, diffId }) => {
      const path = files.get(entry) ?? '';
      const found = digests.get(path) ?? 'no such file';
      if (found !== diffId) throw damaged(entry, diffId, found);
      return { diffId, path };
    });
    return await writeImageArchive(target, { reference, config: image.config, layers }, signal);
  } finally {
    await rm(work, { recursive: true });
  }
}

/** Path of each layer's tar, by its name in the archive. */
async function unpackLayers(
  source: string,
  image: ArchivedImage,
  work: string,
  signal: AbortSignal,
): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  const wanted = new Set(image.layers.map(({ entry }) => entry));
  await readLayers(
    source,
    wanted,
    async (entry, content) => {
      const path = join(work, String(files.size));
      files.set(entry, path);
      await pipeline(content, createWriteStream(path), { signal });
    },
    signal,
  );
  return files;
}

function damaged(entry: string, expected: string, found: string): Failure {
  return new Failure('usage', `the layer ${entry} is damaged`, {
    expected: `SHA-256 ${expected}`,
    found,
    fix: 'Save the image again',
  });
}
