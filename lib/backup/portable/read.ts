import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import type { Decrypter } from 'age-encryption';
import { z } from 'zod';
import { describeError, Failure } from '../../errors/failure.ts';
import { type TarEntry, tarEntries, tarLimits } from '../../image/tar.ts';
import { isRecord, parseJson } from '../../json.ts';
import type { BackupFile } from '../manifest.ts';
import { HEADER_FILE, headerSchema, type PortableHeader, SCHEMA_VERSION } from './header.ts';

/** Far above any header: images and settings are a few KiB. */
const MAX_HEADER_BYTES = 4 * 2 ** 20;

/** Receives the files of a portable backup. */
export interface PortableReader {
  /** Called first, before the rest is read. */
  readonly header?: (header: PortableHeader) => Promise<void>;
  /**
   * Called for each file of the manifest, in its order. `contents` has to be read to its end; what it
   * yields is verified only then.
   */
  readonly file?: (file: BackupFile, contents: AsyncIterable<Buffer>) => Promise<void>;
}

/**
 * Decrypts a portable backup and compares every file with its manifest, as it streams.
 *
 * @param decrypter undefined for the archive in the clear, as an Ignition config carries it.
 * @throws Failure (usage, `backup-unusable`) with what is wrong.
 */
export async function readPortable(
  path: string,
  decrypter: Decrypter | undefined,
  reader: PortableReader,
  signal: AbortSignal,
): Promise<PortableHeader> {
  try {
    return await read(path, decrypter, reader, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Failure && error.kind !== 'usage') throw error;
    throw new Failure('usage', `the backup ${path} cannot be used`, {
      code: 'backup-unusable',
      subject: path,
      found: describeError(error),
      fix: 'Use the identity of a recipient for which it was made, or another copy of it.',
    });
  }
}

async function read(
  path: string,
  decrypter: Decrypter | undefined,
  reader: PortableReader,
  signal: AbortSignal,
): Promise<PortableHeader> {
  const stored = createReadStream(path, { highWaterMark: 1 << 20 });
  try {
    const plain =
      decrypter === undefined ? stored : await decrypter.decrypt(Readable.toWeb(stored));
    const entries = tarEntries(buffers(plain), signal, tarLimits, 'a backup of this product');
    let header: PortableHeader | undefined;
    let next = 0;
    for await (const entry of entries) {
      if (header === undefined) {
        header = await headerOf(entry);
        await reader.header?.(header);
      } else {
        await verified(entry, header.manifest.files[next++], reader);
      }
    }
    if (header === undefined) throw new Error('it is empty');
    const missing = header.manifest.files[next];
    if (missing !== undefined) throw new Error(`${missing.path} is missing`);
    return header;
  } finally {
    stored.destroy();
  }
}

async function* buffers(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  for await (const bytes of stream) yield Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

async function headerOf({ name, size, content }: TarEntry): Promise<PortableHeader> {
  if (name !== HEADER_FILE || size > MAX_HEADER_BYTES) {
    throw new Error(`it begins with ${JSON.stringify(name)}, not with ${HEADER_FILE}`);
  }
  const pieces: Buffer[] = [];
  for await (const piece of content) pieces.push(piece);
  const document = parseJson(Buffer.concat(pieces).toString('utf8'));
  const found = isRecord(document) ? document.schemaVersion : undefined;
  if (typeof found === 'number' && found > SCHEMA_VERSION) {
    throw new Error(`it was made by a newer version of sno-agents (schemaVersion ${found})`);
  }
  const parsed = headerSchema.safeParse(document);
  if (parsed.success) return parsed.data;
  throw new Error(`${HEADER_FILE}: ${z.prettifyError(parsed.error)}`);
}

async function verified(
  { name, type, size, content }: TarEntry,
  expected: BackupFile | undefined,
  { file }: PortableReader,
): Promise<void> {
  if (expected?.path !== name || type !== 'file' || size !== expected.bytes) {
    throw new Error(`${name} is not the next file of the manifest`);
  }
  const hash = createHash('sha256');
  const hashed = async function* () {
    for await (const piece of content) {
      hash.update(piece);
      yield piece;
    }
  };
  if (file === undefined) for await (const _ of hashed());
  else await file(expected, hashed());
  const found = hash.digest('hex');
  if (found !== expected.sha256) {
    throw new Error(`${name}: expected SHA-256 ${expected.sha256}, found ${found}`);
  }
}
