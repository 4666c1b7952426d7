import { open } from 'node:fs/promises';

const CHUNK_BYTES = 4 << 20;
const ZEROS = Buffer.alloc(CHUNK_BYTES);

/** Something that must not be on a disk. */
export interface Trace {
  /** What it is, without its contents. */
  readonly name: string;
  /** A part of it that nothing else has. */
  readonly bytes: Buffer;
}

/**
 * The names of the traces that are anywhere on a disk: in files, in free blocks, in the journal of a file system. The
 * file of the disk is read as it is.
 */
export async function tracesOn(
  disk: string,
  traces: readonly Trace[],
  signal: AbortSignal,
): Promise<string[]> {
  const longest = Math.max(0, ...traces.map(({ bytes }) => bytes.length));
  const candidates = byBeginning(traces);
  const found = new Set<string>();
  await using file = await open(disk);
  const { size } = await file.stat();
  const chunk = Buffer.alloc(CHUNK_BYTES);
  for (let at = 0; at < size; at += CHUNK_BYTES - longest) {
    signal.throwIfAborted();
    const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, at);
    const read = chunk.subarray(0, bytesRead);
    if (!read.equals(ZEROS.subarray(0, bytesRead))) lookInto(read, candidates, found);
    if (at + bytesRead >= size) break;
  }
  return [...found].toSorted();
}

/** Traces by their first two bytes: a disk has gigabytes, which are looked at once for all of them. */
type Candidates = readonly (readonly Trace[] | undefined)[];

function byBeginning(traces: readonly Trace[]): Candidates {
  const groups = Map.groupBy(traces, ({ bytes }) => bytes.readUInt16BE());
  return Array.from({ length: 1 << 16 }, (_, beginning) => groups.get(beginning));
}

function lookInto(read: Buffer, candidates: Candidates, found: Set<string>): void {
  let beginning = read[0] ?? 0;
  for (let at = 1; at < read.length; at += 1) {
    beginning = ((beginning & 0xff) << 8) | (read[at] ?? 0);
    const group = candidates[beginning];
    if (group === undefined) continue;
    for (const { name, bytes } of group) {
      const here = read.subarray(at - 1, at - 1 + bytes.length);
      if (bytes.equals(here)) found.add(name);
    }
  }
}
