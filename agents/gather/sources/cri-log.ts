const NEWLINE = 0x0a;
const SPACE = 0x20;
/** A longer line was not written by a runtime. */
const LONGEST_LINE = 1 << 20;

interface Partial {
  /** Including the trailing blank. */
  readonly time: Buffer;
  readonly parts: Buffer[];
  bytes: number;
}

/**
 * Converts lines `TIME STREAM TAGS MESSAGE` of a container's log file (CRI's logging format) to
 * `TIME MESSAGE`, as `crictl logs --timestamps` prints them. Parts of a long message are joined:
 * a secret that a runtime split could not be recognised. Other lines are passed through.
 * `sinceMs`: starts at the first line that is not older.
 */
export async function* messages(
  chunks: AsyncIterable<Uint8Array>,
  sinceMs?: number,
): AsyncGenerator<Uint8Array> {
  const log = new CriLog(sinceMs);
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const bytes = rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([rest, chunk]);
    const out: Buffer[] = [];
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
      log.line(bytes.subarray(start, end + 1), out);
      start = end + 1;
    }
    rest = bytes.subarray(start);
    if (rest.length > LONGEST_LINE) {
      out.push(rest);
      rest = Buffer.alloc(0);
    }
    if (out.length > 0) yield Buffer.concat(out);
  }
  const out: Buffer[] = [];
  if (rest.length > 0) log.line(Buffer.concat([rest, END]), out);
  log.end(out);
  if (out.length > 0) yield Buffer.concat(out);
}

const END = Buffer.from('\n');
const STREAMS = ['stdout', 'stderr'] as const;
type Stream = (typeof STREAMS)[number];

class CriLog {
  /** Incomplete messages by stream. */
  readonly #open = new Map<Stream, Partial>();
  #sinceMs: number | undefined;

  constructor(sinceMs: number | undefined) {
    this.#sinceMs = sinceMs;
  }

  /** `line` includes its line end. */
  line(line: Buffer, out: Buffer[]): void {
    const timeEnd = line.indexOf(SPACE) + 1;
    const stream = timeEnd > 1 ? streamAt(line, timeEnd) : undefined;
    const tags = timeEnd + 'stdout '.length;
    const start = line.indexOf(SPACE, tags) + 1;
    if (stream === undefined || start === 0) {
      out.push(line);
      return;
    }
    const time = line.subarray(0, timeEnd);
    if (this.#isOld(time)) return;
    // Tags are separated by colons; the first says whether the message continues.
    const isPartial = line[tags] === 0x50;
    const open = this.#open.get(stream);
    if (isPartial && (open?.bytes ?? 0) < LONGEST_LINE) {
      // Copied, so that the chunk's memory can be released.
      const begun = open ?? { time: Buffer.from(time), parts: [], bytes: 0 };
      begun.parts.push(Buffer.from(line.subarray(start, -1)));
      begun.bytes += line.length - start;
      this.#open.set(stream, begun);
      return;
    }
    if (open !== undefined) this.#open.delete(stream);
    out.push(open?.time ?? time, ...(open?.parts ?? []), line.subarray(start));
  }

  /** Emits messages that were cut off. */
  end(out: Buffer[]): void {
    for (const { time, parts } of this.#open.values()) out.push(time, ...parts, END);
    this.#open.clear();
  }

  /** Logs are in chronological order: after the first line that is new enough, all are. */
  #isOld(time: Buffer): boolean {
    if (this.#sinceMs === undefined) return false;
    if (Date.parse(time.toString('latin1').trimEnd()) < this.#sinceMs) return true;
    this.#sinceMs = undefined;
    return false;
  }
}

/** The stream named at this offset, with a blank after it; avoids creating a string per line. */
function streamAt(line: Buffer, at: number): Stream | undefined {
  const [s, t, d] = [0x73, 0x74, 0x64];
  if (line[at] !== s || line[at + 1] !== t || line[at + 2] !== d || line[at + 6] !== SPACE) {
    return undefined;
  }
  return STREAMS.find((stream) => stream.charCodeAt(3) === line[at + 3]);
}
