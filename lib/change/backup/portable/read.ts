import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { ReadableStream } from 'node:stream/web';
import type { Decrypter } from 'age-encryption';
import { withShortHeader } from '../../../base/age-header.ts';
import { type TarEntry, tarEntries, tarLimits } from '../../../base/archive/tar.ts';
import { describeError, Failure } from '../../../base/errors/failure.ts';
import { schemaFaults } from '../../../base/errors/schema-faults.ts';
import { isRecord, parseJson } from '../../../base/json.ts';
import type { BackupFile } from '../manifest.ts';
import {
  type AcceptedAuthor,
  type Claimed,
  requireAuthor,
  requireCluster,
  SIGNATURE_FILE,
} from './author.ts';
import { HEADER_FILE, HEADER_VERSION, headerSchema, type PortableHeader } from './header.ts';

/** Far above any header: images and settings are a few KiB. */
const MAX_HEADER_BYTES = 4 * 2 ** 20;
/** That of RSA with 8192 bits has 1368. */
const MAX_SIGNATURE_BYTES = 4096;

/** How a portable backup is opened. */
export interface Opening {
  /** Undefined for the archive in the clear, as an Ignition config carries it. */
  readonly decrypter: Decrypter | undefined;
  readonly author: AcceptedAuthor;
}

/** What was read, and whether anybody has signed it; by whom is known if an author was demanded. */
export interface ReadBackup {
  readonly header: PortableHeader;
  readonly isSigned: boolean;
}

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
 * Decrypts a portable backup, and compares its author, and every file with its manifest, as it streams: the header is used
 * once its author is known, a file once the header is.
 *
 * @throws Failure (usage, `backup-unusable`) with what is wrong.
 */
export async function readPortable(
  path: string,
  opening: Opening,
  reader: PortableReader,
  signal: AbortSignal,
): Promise<ReadBackup> {
  try {
    return await read(path, opening, reader, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Failure && isFinal(error)) throw error;
    throw new Failure('usage', `the backup ${path} cannot be used`, {
      code: 'backup-unusable',
      subject: path,
      found: describeError(error),
      fix: 'Use the identity of a recipient for which it was made, or another copy of it.',
    });
  }
}

const isFinal = ({ kind, code }: Failure) => kind !== 'usage' || code === 'backup-unusable';

async function read(
  path: string,
  { decrypter, author }: Opening,
  reader: PortableReader,
  signal: AbortSignal,
): Promise<ReadBackup> {
  const stored = createReadStream(path, { highWaterMark: 1 << 20 });
  try {
    const plain =
      decrypter === undefined
        ? stored
        : await decrypter.decrypt(ReadableStream.from(withShortHeader(stored)));
    const entries = tarEntries(buffers(plain), signal, tarLimits, 'a backup of this product');
    let text: Buffer | undefined;
    let found: ReadBackup | undefined;
    let next = 0;
    for await (const entry of entries) {
      if (text === undefined) {
        text = await textOf(entry, HEADER_FILE, MAX_HEADER_BYTES);
        continue;
      }
      if (found === undefined) {
        const signature = await signatureIn(entry);
        found = opened({ path, text, signature }, author);
        await reader.header?.(found.header);
        if (signature !== undefined) continue;
      }
      await verified(entry, found.header.manifest.files[next++], reader);
    }
    if (found === undefined) throw new Error('it has no files');
    const missing = found.header.manifest.files[next];
    if (missing !== undefined) throw new Error(`${missing.path} is missing`);
    return found;
  } finally {
    stored.destroy();
  }
}

async function* buffers(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  for await (const bytes of stream) yield Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

/** @throws Error if the entry has another name, or is too large */
async function textOf(
  { name, size, content }: TarEntry,
  expected: string,
  most: number,
): Promise<Buffer> {
  if (name !== expected || size > most) {
    throw new Error(
      `expected ${expected} with at most ${most} bytes, found ${JSON.stringify(name.slice(0, 100))} with ${size}`,
    );
  }
  const pieces: Buffer[] = [];
  for await (const piece of content) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** Undefined if the entry is that of a file, which nothing has read then. */
async function signatureIn(entry: TarEntry): Promise<string | undefined> {
  if (entry.name !== SIGNATURE_FILE) return undefined;
  return (await textOf(entry, SIGNATURE_FILE, MAX_SIGNATURE_BYTES)).toString('utf8');
}

function opened(claimed: Claimed, author: AcceptedAuthor): ReadBackup {
  const document = parseJson(claimed.text.toString('utf8'));
  const found = isRecord(document) ? document.schemaVersion : undefined;
  if (typeof found === 'number' && found > HEADER_VERSION) {
    throw new Error(`it was made by a newer version of sno-agents (schemaVersion ${found})`);
  }
  requireAuthor(claimed, author);
  const parsed = headerSchema.safeParse(document);
  if (!parsed.success) throw new Error(`${HEADER_FILE}: ${schemaFaults(parsed.error)}`);
  const header = parsed.data;
  requireCluster([header.manifest.clusterId, header.renderInput.cluster.clusterId], author);
  return { header, isSigned: claimed.signature !== undefined };
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
