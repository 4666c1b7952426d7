import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { Failure } from '../../lib/base/errors/failure.ts';
import { runProgram } from '../process/program.ts';
import { EPOCH } from './add-files.ts';

/** Where a file of an ISO is in it, in bytes. */
export interface IsoExtent {
  readonly offset: number;
  readonly size: number;
}

const DEADLINE_MS = 5 * 60_000;
const SECTOR_BYTES = 2048;

/** `File data lba:  0 ,  1234 ,  5 ,  9999 , '/sno-agents/x'`: extent, sector, sectors, bytes. */
const REPORTED = /^File data lba: +(\d+) , +(\d+) , +\d+ , +(\d+) , '(.+)'$/;

/**
 * The regular files below a folder of an ISO, by their absolute paths on it; none if there is no such folder. Only the directories of the
 * ISO are read. A file in several pieces is left out: nothing that we write is.
 */
export async function filesOnIso(
  iso: string,
  folder: string,
  signal: AbortSignal,
): Promise<Map<string, IsoExtent>> {
  const args = [
    ...['-no_rc', '-abort_on', 'FAILURE', '-indev', `stdio:${iso}`],
    ...['-find', '/', '-wholename', `${folder}/*`, '-type', 'f', '-exec', 'report_lba', '--'],
    '-end',
  ];
  const { ok, ending, stdout, stderr } = await runProgram('xorriso', args, {
    env: { SOURCE_DATE_EPOCH: `${EPOCH}` },
    deadlineMs: DEADLINE_MS,
    signal,
  });
  if (!ok) {
    throw new Failure('usage', `The folders of ${iso} cannot be read; nothing was written`, {
      found: [ending, ...stderr.split('\n').slice(-2)].join(' | '),
      fix: 'Copy or create the ISO again.',
    });
  }
  return extentsIn(stdout.toString('utf8'));
}

/** The pure part of filesOnIso. */
export function extentsIn(report: string): Map<string, IsoExtent> {
  const extents = new Map<string, IsoExtent>();
  const inPieces = new Set<string>();
  for (const line of report.split('\n')) {
    const [, piece, sector, size, path] = REPORTED.exec(line) ?? [];
    if (path === undefined) continue;
    if (piece !== '0') inPieces.add(path);
    extents.set(path, { offset: Number(sector) * SECTOR_BYTES, size: Number(size) });
  }
  for (const path of inPieces) extents.delete(path);
  return extents;
}

/** @throws Failure (usage) for a file of more than that many bytes, or one that ends early */
export async function textOnIso(
  iso: string,
  { offset, size }: IsoExtent,
  mostBytes: number,
): Promise<string> {
  await using file = await open(iso);
  const text = Buffer.alloc(Math.min(size, mostBytes));
  const { bytesRead } = await file.read(text, 0, text.length, offset);
  if (size <= mostBytes && bytesRead === size) return text.toString('utf8');
  throw new Failure('usage', `${iso} is damaged; nothing was written`, {
    expected: `a file of at most ${mostBytes} bytes at ${offset}`,
    found: `${size} bytes, of which ${bytesRead} can be read`,
    fix: 'Copy or create the ISO again.',
  });
}

/** SHA-256 of a file of an ISO as lower-case hex, streamed. */
export async function sha256OnIso(
  iso: string,
  { offset, size }: IsoExtent,
  signal: AbortSignal,
): Promise<string> {
  const hash = createHash('sha256');
  if (size === 0) return hash.digest('hex');
  const range = { start: offset, end: offset + size - 1, highWaterMark: 1 << 20 };
  await pipeline(createReadStream(iso, range), hash, { signal });
  return hash.digest('hex');
}
