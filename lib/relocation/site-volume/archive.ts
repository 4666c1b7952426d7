import type { Decrypter, Encrypter } from 'age-encryption';
import { endsInTime, LONGEST_AGE_HEADER } from '../../base/age-header.ts';
import { tarEntries } from '../../base/archive/tar.ts';
import { addText, tarOf } from '../../base/archive/tar-writer.ts';
import { describeError } from '../../base/errors/failure.ts';
import { isUnambiguous } from './manifest.ts';
import { isVolumePath } from './paths.ts';
import { refused } from './refused.ts';
import { VOLUME_FILES, VOLUME_LIMITS } from './volume.ts';

/** Of tar: a header and padding for each file. */
const LIMITS = { entries: VOLUME_LIMITS.files, bytes: VOLUME_LIMITS.bytes };

/** The files as a tar archive, encrypted. */
export async function encryptFiles(
  files: ReadonlyMap<string, Uint8Array>,
  encrypter: Encrypter,
): Promise<Uint8Array> {
  const archive = tarOf(async (tar) => {
    for (const [path, bytes] of files) addText(tar, path, bytes, 0o600);
  });
  const pieces: Buffer[] = [];
  for await (const piece of archive) if (Buffer.isBuffer(piece)) pieces.push(piece);
  return encrypter.encrypt(Buffer.concat(pieces));
}

/**
 * The files of site-volume.age.
 *
 * @throws Failure (usage, `site-volume-refused`) for another node's, a damaged one, and one with anything but files
 */
export async function decryptFiles(
  encrypted: Uint8Array,
  decrypter: Decrypter,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Uint8Array>> {
  requireShortHeader(encrypted);
  const plain = await decrypter.decrypt(encrypted).catch((error: unknown) => {
    throw refused(`${VOLUME_FILES.encrypted} cannot be decrypted`, {
      expected: "one for the recipient of this node's identity, complete",
      found: describeError(error),
      fix: 'Nothing was changed. Create the volume with the recipient that the factory has printed for this node.',
    });
  });
  const files = new Map<string, Uint8Array>();
  const paths: string[] = [];
  try {
    for await (const entry of tarEntries(once(plain), signal, LIMITS, 'a site volume')) {
      paths.push(entry.name);
      if (entry.type !== 'file' || !isVolumePath(entry.name) || !isUnambiguous(paths)) {
        throw new Error(`${JSON.stringify(entry.name.slice(0, 100))}, a ${entry.type}`);
      }
      const pieces: Buffer[] = [];
      for await (const piece of entry.content) pieces.push(piece);
      files.set(entry.name, Buffer.concat(pieces));
    }
  } catch (error) {
    signal.throwIfAborted();
    throw refused(`${VOLUME_FILES.encrypted} has something else than the files of a volume`, {
      expected: 'regular files with plain names, each once',
      found: describeError(error),
    });
  }
  return files;
}

function requireShortHeader(encrypted: Uint8Array): void {
  if (endsInTime(Buffer.from(encrypted.subarray(0, LONGEST_AGE_HEADER)))) return;
  throw refused(`${VOLUME_FILES.encrypted} cannot be decrypted`, {
    expected: `a header of age of at most ${LONGEST_AGE_HEADER} bytes`,
    found: 'none in its first bytes',
    fix: 'Nothing was changed. Create the volume with the recipient that the factory has printed for this node.',
  });
}

async function* once(bytes: Uint8Array): AsyncGenerator<Buffer> {
  yield Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}
