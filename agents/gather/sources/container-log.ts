import { readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { isMissing } from '../../../lib/host/files.ts';
import type { GatherHost } from '../gather-host.ts';
import type { GatherPhase, Source } from '../source.ts';
import { stream } from './command.ts';
import { messages } from './cri-log.ts';
import { contents } from './file.ts';

/** More than a container's log and its rotated files usually take together. */
const WHOLE_BYTES = 256 << 20;
const TAIL_BYTES = 64 << 10;
/** Approximate compression ratio of rotated logs. */
const PACKED = 10;

/** A container's log including files rotated by the kubelet, oldest first. */
export const wholeLog = (path: string, place: string) =>
  logSource(path, place, WHOLE_BYTES, 'bulk');

/** The end of a container's log. */
export const logTail = (path: string, place: string) =>
  logSource(path, place, TAIL_BYTES, 'diagnosis');

function logSource(path: string, place: string, limitBytes: number, phase: GatherPhase): Source {
  const open: Source['open'] = (host, signal) =>
    messages(logBytes(host, place, limitBytes, signal), host.sinceMs);
  return stream(path, open, { phase, deadlineMs: phase === 'bulk' ? 90_000 : 10_000, limitBytes });
}

/** At least the newest `limitBytes` of a log, from the beginning of a line. */
async function* logBytes(
  { paths, sinceMs }: GatherHost,
  place: string,
  limitBytes: number,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  await expectBelow(dirname(place), paths.at('/var/log'));
  const files = await newestFiles(place, limitBytes, sinceMs);
  if (files.length === 0) throw new Failure('retry', `no log found at ${place}`);
  let failure: unknown;
  for (const [index, file] of files.entries()) {
    try {
      yield* contents(file, index === 0 ? limitBytes : undefined, signal);
    } catch (error) {
      signal.throwIfAborted();
      // The newer files matter more than this one.
      failure ??= error;
    }
  }
  if (failure !== undefined) throw failure;
}

/** Log folders partly belong to the pods: links out of them are not followed. */
async function expectBelow(folder: string, root: string): Promise<void> {
  const [real, realRoot] = await Promise.all([realpath(folder), realpath(root)]);
  if (real.startsWith(realRoot + sep)) return;
  throw new Failure('fatal', `the log folder ${folder} is not used`, {
    expected: `a folder below ${root}`,
    found: real,
  });
}

/** The log and its rotated files `LOG.TIME` and `LOG.TIME.gz`; as many as needed, oldest first. */
async function newestFiles(place: string, limitBytes: number, sinceMs = 0): Promise<string[]> {
  const folder = dirname(place);
  const name = basename(place);
  const rotated = (await readdir(folder))
    .filter((other) => other.startsWith(`${name}.`) && /\.\d{8}-\d{6}(\.gz)?$/.test(other))
    .toSorted()
    .toReversed();
  const files: string[] = [];
  let expected = 0;
  for (const file of [name, ...rotated]) {
    if (expected >= limitBytes) break;
    try {
      const { size, mtimeMs } = await stat(join(folder, file));
      if (mtimeMs < sinceMs) break;
      files.unshift(join(folder, file));
      expected += file.endsWith('.gz') ? size * PACKED : size;
    } catch (error) {
      // Rotated away in the meantime.
      if (!isMissing(error)) throw error;
    }
  }
  return files;
}
