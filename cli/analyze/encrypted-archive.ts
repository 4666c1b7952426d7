import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { ReadableStream } from 'node:stream/web';
import { withShortHeader } from '../../lib/base/age-header.ts';
import { describeError, Failure } from '../../lib/base/errors/failure.ts';
import { decrypterFor } from '../../lib/change/backup/portable/recipients.ts';
import { readGivenFile } from '../../lib/host/given-file.ts';

/** The archive of a log bundle, which can be read more than once. */
export interface OpenableArchive {
  readonly path: string;
  /** Its bytes, decrypted if they were encrypted. */
  open(): AsyncIterable<Buffer>;
}

const MAGIC = Buffer.from('age-encryption.org/v1\n');
const CHUNK_BYTES = 1 << 18;

/** @throws Failure (usage) if it is encrypted, and cannot be decrypted */
export async function archiveAt(
  path: string,
  identity: string | undefined,
  signal: AbortSignal,
): Promise<OpenableArchive> {
  if (!(await isEncrypted(path))) return { path, open: () => bytesOf(path) };
  if (identity === undefined) {
    throw new Failure('usage', `${path} is encrypted`, {
      fix: 'Name the file with the secret key of a recipient: --identity FILE.',
    });
  }
  const text = await readGivenFile(identity, '--identity', { signal });
  // A decrypter keeps nothing of what it decrypts.
  const decrypter = decrypterFor(text, identity);
  const plain = () =>
    decrypter
      .decrypt(ReadableStream.from(withShortHeader(bytesOf(path))))
      .catch((error: unknown) => {
        throw new Failure('usage', `${path} cannot be decrypted`, {
          found: describeError(error),
          fix: 'Use the identity of a recipient for which it was encrypted.',
        });
      });
  // Whether the identity fits is known from its header.
  await (await plain()).cancel();
  return {
    path,
    async *open() {
      for await (const { buffer, byteOffset, length } of await plain()) {
        yield Buffer.from(buffer, byteOffset, length);
      }
    },
  };
}

const bytesOf = (path: string): AsyncIterable<Buffer> =>
  createReadStream(path, { highWaterMark: CHUNK_BYTES });

async function isEncrypted(path: string): Promise<boolean> {
  await using handle = await open(path);
  const { buffer } = await handle.read(Buffer.alloc(MAGIC.length), 0, MAGIC.length, 0);
  return buffer.equals(MAGIC);
}
