import { createReadStream, createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { atMost } from '../base/archive/at-most.ts';
import { Failure } from '../base/errors/failure.ts';
import { placeFile } from '../host/copy.ts';
import { decompressed } from './image/compression.ts';
import { digestFault, type PayloadFile } from './verify.ts';

/** Where the bytes of a file are, compressed, and how messages call that. */
export interface CompressedFile {
  readonly source: string;
  readonly name: string;
}

/**
 * Decompresses a file atomically: a cut or a killed process leaves nothing under its name. It is verified as it is read
 * back, and never grows beyond the size that payload.yaml states.
 *
 * @param verified called before the file gets its name
 * @throws Failure (fatal) that names the compressed file, if that is damaged, ends early, or has something else in it
 */
export async function unpackFile(
  compressed: CompressedFile,
  target: string,
  file: PayloadFile,
  signal: AbortSignal,
  verified: () => Promise<void> = async () => undefined,
): Promise<void> {
  const check = async (beside: string) => {
    const fault = await digestFault(file, beside, signal);
    if (fault !== undefined) throw wrong(compressed, fault);
    await verified();
  };
  await placeFile(target, 0o644, (beside) => decompress(compressed, beside, file, signal), check);
}

async function decompress(
  compressed: CompressedFile,
  target: string,
  { path, size }: PayloadFile,
  signal: AbortSignal,
): Promise<void> {
  const tooMuch = () => wrong(compressed, `${path}: more than the ${size} bytes that are stated`);
  const source = createReadStream(compressed.source, { highWaterMark: 1 << 20 });
  try {
    const pieces = atMost(decompressed(source), size, tooMuch);
    await pipeline(pieces, createWriteStream(target, { flags: 'wx' }), { signal });
  } catch (error) {
    signal.throwIfAborted();
    const isDamage = error instanceof Failure && error.kind === 'usage';
    throw isDamage ? wrong(compressed, error.message) : error;
  } finally {
    source.destroy();
  }
}

const wrong = ({ name }: CompressedFile, found: string): Failure =>
  new Failure('fatal', `${name} is damaged`, {
    code: 'payload-damaged',
    found,
    fix: 'Create the payload again, or copy it again from where it was created.',
  });
