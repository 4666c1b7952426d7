import { constants, type Stats } from 'node:fs';
import { type FileHandle, open, readFile, stat } from 'node:fs/promises';
import { Failure } from '../base/errors/failure.ts';
import { isSystemError, systemErrorWords } from '../base/errors/system-error.ts';
import { systemErrorCode } from '../base/errors/system-error-code.ts';
import { lookUntil, type Seen } from '../base/wait/wait-until.ts';

/** Of keys, signatures, kubeconfigs and manifests: far more than each of them has. */
const MAX_SMALL_BYTES = 1 << 20;
/** A shell connects the writer of a pipe before the program runs. */
const WRITER_MS = 10_000;
/** It may ask a person for a passphrase. */
const WRITTEN_MS = 300_000;
const LOOK_MS = 20;

const NOBODY = 'nobody writes to it';

interface Options {
  readonly signal?: AbortSignal | undefined;
  /** 1 MiB if left out. */
  readonly mostBytes?: number;
  /** The file is judged, and somebody else reads it. */
  readonly keepsMark?: boolean;
}

/**
 * The text of a file that a person names with an option and that is read once; `what` begins the message. It may be a pipe, as
 * shells make one of `<(…)`, which is read to its end. Symlinks are followed; devices, sockets and folders are not opened. A
 * byte order mark, as editors of Windows write one, is no part of the text unless it is kept.
 *
 * @throws Failure (usage) for anything else, for a file that is too large, and for a pipe that nobody writes to in time
 */
export async function readGivenFile(
  path: string,
  what: string,
  { signal = new AbortController().signal, mostBytes = MAX_SMALL_BYTES, keepsMark }: Options = {},
): Promise<string> {
  const stats = await statusOf(path, what);
  const text = stats.isFIFO()
    ? await readPipe(path, what, { signal, mostBytes })
    : await readSmallFile(path, what, mostBytes);
  return keepsMark ? text : text.replace(/^\uFEFF/, '');
}

/**
 * The same of a file that is read again, or that a person does not name itself, such as one of a folder: never a pipe.
 * @throws Failure (usage)
 */
export async function readSmallFile(
  path: string,
  what: string,
  mostBytes = MAX_SMALL_BYTES,
): Promise<string> {
  const { size } = await requireRegularFile(path, what);
  if (size > mostBytes) throw tooLarge(path, what, mostBytes, `${size}`);
  return readFile(path, 'utf8').catch((cause: unknown) => {
    throw unreadable(path, what, cause);
  });
}

/**
 * The status of a file to be read: symlinks are followed; devices, FIFOs and
 * folders are refused before they are opened. `what` begins the message. @throws
 * Failure (usage)
 */
export async function requireRegularFile(path: string, what: string): Promise<Stats> {
  const stats = await statusOf(path, what);
  if (stats.isFile()) return stats;
  throw new Failure('usage', `${what} ${path} is not a regular file; nothing was written`, {
    found: kindOf(stats),
  });
}

const statusOf = (path: string, what: string): Promise<Stats> =>
  stat(path).catch((cause: unknown) => {
    throw unreadable(path, what, cause);
  });

async function readPipe(
  path: string,
  what: string,
  { signal, mostBytes }: { signal: AbortSignal; mostBytes: number },
): Promise<string> {
  // Opened like this, it does not wait for a writer.
  const flags = constants.O_RDONLY | constants.O_NONBLOCK;
  await using file = await open(path, flags).catch((cause: unknown) => {
    throw unreadable(path, what, cause);
  });
  const pieces: Buffer[] = [];
  let size = 0;
  const look = async (): Promise<Seen<string>> => {
    for (;;) {
      const piece = await nextPiece(file);
      if (piece === undefined) return { state: 'its writer has not ended' };
      if (piece.length === 0) break;
      pieces.push(piece);
      size += piece.length;
      if (size > mostBytes) throw tooLarge(path, what, mostBytes, 'more');
    }
    return size === 0 ? { state: NOBODY } : { met: Buffer.concat(pieces).toString('utf8') };
  };
  const limits = { signal, everyMs: LOOK_MS };
  let seen = await lookUntil(look, { ...limits, deadlineMs: WRITER_MS });
  if ('state' in seen && seen.state !== NOBODY) {
    seen = await lookUntil(look, { ...limits, deadlineMs: WRITTEN_MS });
  }
  if ('met' in seen) return seen.met;
  throw new Failure('usage', `${what} ${path} is a pipe without an end`, {
    expected: 'a program that writes to it, and ends',
    found: seen.state,
  });
}

/** Empty without a writer; undefined while the writer says nothing. */
async function nextPiece(file: FileHandle): Promise<Buffer | undefined> {
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(1 << 16));
    return buffer.subarray(0, bytesRead);
  } catch (error) {
    if (systemErrorCode(error) === 'EAGAIN') return undefined;
    throw error;
  }
}

function tooLarge(path: string, what: string, mostBytes: number, found: string): Failure {
  return new Failure('usage', `${what} ${path} is too large; nothing was written`, {
    expected: `at most ${mostBytes} bytes`,
    found,
  });
}

/** For what a person names and cannot be read; `what` begins the message. */
function unreadable(path: string, what: string, cause: unknown): Failure {
  const found = isSystemError(cause) ? systemErrorWords(cause) : `${cause}`;
  return new Failure('usage', `${what} ${path} cannot be read; nothing was written`, { found });
}

/** The type of something other than a regular file, in words. */
export function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return 'a folder';
  if (stats.isFIFO()) return 'a FIFO';
  if (stats.isSocket()) return 'a socket';
  if (stats.isSymbolicLink()) return 'a symbolic link';
  return 'a device';
}
