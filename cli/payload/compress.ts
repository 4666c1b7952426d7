import { createReadStream, createWriteStream } from 'node:fs';
import { chmod, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress } from 'node:zlib';
import { sha256OfAnyFile } from '../../lib/host/digests.ts';
import type { Payload, PayloadDescription } from '../../lib/payload/payload.ts';
import { type DescribedFile, payloadFiles } from '../../lib/payload/verify.ts';
import { writeDescription } from './fill.ts';
import { withPlainFile } from './plain-file.ts';

/** A tenth smaller than level 3, in four times the time; 12 takes twice as long for a hundredth. */
const LEVEL = 9;

/**
 * Replaces the files of a new payload by compressed ones, each decompressed again and compared, and states both forms in
 * payload.yaml. Durable. The same files give the same bytes in each release.
 */
export async function compressPayload(
  { directory, descriptionSha256: _, ...description }: Payload,
  signal: AbortSignal,
): Promise<void> {
  const forms = new Map<string, DescribedFile['zstd']>();
  for (const file of payloadFiles(description)) {
    forms.set(file.path, await compressFile(directory, file.path, signal));
  }
  const compressed: PayloadDescription = {
    ...description,
    images: description.images.map((each) => ({ ...each, zstd: forms.get(each.archive) })),
    binaries: description.binaries.map((each) => ({ ...each, zstd: forms.get(each.file) })),
  };
  for (const file of payloadFiles(compressed)) {
    await withPlainFile({ directory }, file, signal, async () => undefined);
    await rm(join(directory, file.path));
  }
  await writeDescription(directory, compressed, signal);
}

async function compressFile(directory: string, path: string, signal: AbortSignal) {
  const source = join(directory, path);
  const target = `${source}.zst`;
  const params = { [constants.ZSTD_c_compressionLevel]: LEVEL };
  await pipeline(
    createReadStream(source, { highWaterMark: 1 << 20 }),
    createZstdCompress({ params, chunkSize: 1 << 20 }),
    createWriteStream(target, { flags: 'wx' }),
    { signal },
  );
  // Regardless of the umask, as every file of a payload.
  await chmod(target, 0o644);
  return { size: (await stat(target)).size, sha256: await sha256OfAnyFile(target, signal) };
}
