import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { tarEntries } from '../../lib/base/archive/tar.ts';
import { type Program, readProgram, startsLikeElf } from '../../lib/payload/elf/elf.ts';
import { readLayers } from '../../lib/payload/image/archive.ts';
import type { ArchivedImage } from '../../lib/payload/image/contents.ts';
import { layerLimits } from '../../lib/payload/layer-files.ts';

/** Several times the largest program of Kubernetes. */
const MAX_PROGRAM_BYTES = 1 << 30;

/**
 * The program of that name in an image, from the topmost layer that has one. Undefined: there is none, or it is a
 * script.
 *
 * @param path the image's archive.
 * @throws Failure (usage) if a layer is damaged, or the program is for no known architecture
 */
export async function programInImage(
  path: string,
  { layers }: ArchivedImage,
  name: string,
  signal: AbortSignal,
): Promise<Program | undefined> {
  const work = await mkdtemp(join(tmpdir(), 'sno-image-'));
  try {
    const found = new Map<string, Program>();
    await readLayers(
      path,
      new Set(layers.map(({ entry }) => entry)),
      async (layer, content) => {
        const program = await programInLayer(content, name, join(work, 'program'), signal);
        if (program !== undefined) found.set(layer, program);
      },
      signal,
    );
    return layers.toReversed().flatMap(({ entry }) => found.get(entry) ?? [])[0];
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function programInLayer(
  layer: AsyncIterable<Buffer>,
  name: string,
  copy: string,
  signal: AbortSignal,
): Promise<Program | undefined> {
  let found: Program | undefined;
  for await (const entry of tarEntries(layer, signal, layerLimits, "an image's files")) {
    const isProgram = entry.type === 'file' && entry.name.split('/').at(-1) === name;
    if (!isProgram || entry.size > MAX_PROGRAM_BYTES) continue;
    await pipeline(entry.content, createWriteStream(copy), { signal });
    if (await startsLikeElf(copy)) found = await readProgram(copy, `/${entry.name}`);
  }
  return found;
}
