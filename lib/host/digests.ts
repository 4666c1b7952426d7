import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { execa } from 'execa';
import { run } from './command.ts';
import { sha256OfFile } from './files.ts';

const DEADLINE_MS = 10 * 60_000;

/**
 * SHA-256 (lower-case hex) of files, by path, computed by `sha256sum`: gigabytes
 * are hashed on another core while the event loop keeps feeding the watchdog.
 */
export async function sha256OfFiles(
  paths: readonly string[],
  signal: AbortSignal,
): Promise<Map<string, string>> {
  if (paths.length === 0) return new Map();
  return new Map(
    (await sha256sum(paths, signal))
      .split('\0')
      .filter((line) => line !== '')
      .map((line) => [line.slice(66), line.slice(0, 64)]),
  );
}

/** A file up to this size is hashed in less time than a process takes to start. */
const SMALL_BYTES = 1 << 20;

/** Like sha256OfFiles, for one file of any size: a small one is hashed in this process. */
export async function sha256OfAnyFile(path: string, signal: AbortSignal): Promise<string> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile() === true && found.size <= SMALL_BYTES) return sha256OfFile(path, signal);
  return (await sha256sum([path], signal)).slice(0, 64);
}

/** With --zero, file names are printed unescaped. */
function sha256sum(paths: readonly string[], signal: AbortSignal): Promise<string> {
  const limits = { signal, deadlineMs: DEADLINE_MS };
  return run('sha256sum', ['--binary', '--zero', '--', ...paths], limits);
}

/** SHA-256 (lower-case hex) of a stream, by `sha256sum`. Errors of the stream are rethrown. */
export async function sha256OfStream(
  source: AsyncIterable<Buffer>,
  signal: AbortSignal,
): Promise<string> {
  const hashing = execa('sha256sum', ['--binary'], { timeout: DEADLINE_MS });
  // Awaited below; an earlier rejection must not count as unhandled.
  hashing.catch(() => undefined);
  // An error of the source or the signal closes the input, which ends the program.
  await pipeline(Readable.from(source), hashing.stdin, { signal });
  return (await hashing).stdout.slice(0, 64);
}
