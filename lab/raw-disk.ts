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
  const probes = probesOf(traces);
  const longest = Math.max(0, ...traces.map(({ bytes }) => bytes.length));
  const found = new Set<string>();
  await using file = await open(disk);
  const { size } = await file.stat();
  const chunk = Buffer.alloc(CHUNK_BYTES);
  for (let at = 0; at < size; at += CHUNK_BYTES - longest) {
    signal.throwIfAborted();
    const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, at);
    const read = chunk.subarray(0, bytesRead);
    if (!read.equals(ZEROS.subarray(0, bytesRead))) lookInto(read, probes, found);
    if (at + bytesRead >= size) break;
  }
  return [...found].toSorted();
}

const PROBE_BYTES = 4;

/**
 * A disk has gigabytes, which are looked at once for all traces, and only at every so many bytes: wherever a trace lies,
 * one of these places is in it.
 */
interface Probes {
  readonly everyBytes: number;
  /** By four bytes in a row, all traces that have them, and where. */
  readonly places: ReadonlyMap<number, readonly { readonly trace: Trace; readonly at: number }[]>;
}

function probesOf(traces: readonly Trace[]): Probes {
  const shortest = Math.min(...traces.map(({ bytes }) => bytes.length));
  const everyBytes = shortest - PROBE_BYTES + 1;
  const all = traces.flatMap((trace) =>
    Array.from({ length: everyBytes }, (_, at) => ({ trace, at })),
  );
  const places = Map.groupBy(all, ({ trace, at }) => trace.bytes.readUInt32BE(at));
  return { everyBytes, places };
}

function lookInto(read: Buffer, { everyBytes, places }: Probes, found: Set<string>): void {
  for (let probe = 0; probe + PROBE_BYTES <= read.length; probe += everyBytes) {
    for (const { trace, at } of places.get(read.readUInt32BE(probe)) ?? []) {
      const begin = probe - at;
      if (begin < 0 || found.has(trace.name)) continue;
      if (trace.bytes.equals(read.subarray(begin, begin + trace.bytes.length))) {
        found.add(trace.name);
      }
    }
  }
}
