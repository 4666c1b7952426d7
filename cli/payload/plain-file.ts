import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { type Payload, payloadPath } from '../../lib/payload/payload.ts';
import { unpackFile } from '../../lib/payload/unpack.ts';
import { type DescribedFile, storedFile } from '../../lib/payload/verify.ts';

/**
 * Passes `use` the path of a payload's file as a host uses it: of one that is stored compressed, a verified copy that is
 * deleted afterwards.
 * @throws Failure that names the file, if it is missing or damaged
 */
export async function withPlainFile<T>(
  payload: Pick<Payload, 'directory'>,
  file: DescribedFile,
  signal: AbortSignal,
  use: (path: string) => Promise<T>,
): Promise<T> {
  const stored = storedFile(file).path;
  const source = await payloadPath(payload, stored);
  if (file.zstd === undefined) return use(source);
  const work = await mkdtemp(join(tmpdir(), 'sno-payload-'));
  try {
    const plain = join(work, basename(file.path));
    await unpackFile({ source, name: stored }, plain, file, signal);
    return await use(plain);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
