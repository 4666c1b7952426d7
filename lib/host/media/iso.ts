import { createReadStream } from 'node:fs';
import { addAbortSignal, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { execa } from 'execa';
import { tarEntries } from '../../base/archive/tar.ts';
import type { Limits } from '../../base/wait/limits.ts';
import { type MediumEntry, type MediumLimits, refused } from './collect.ts';

/** What an archive may have besides the files: headers, and what an operating system added. */
const MARGIN_BYTES = 16 << 20;
const MAX_ENTRIES = 1024;
/** Before the volume descriptors: not of ISO 9660 (ECMA-119, 6.2.1), and what other formats are recognised by. */
const SYSTEM_AREA_BYTES = 32 << 10;
/** The type of a primary volume descriptor, "CD001", and its version (ECMA-119, 8.4). */
const MAGIC = Buffer.from('\x01CD001\x01', 'latin1');

/**
 * The entries of an ISO 9660 file system: bsdtar (libarchive) converts it to a tar archive. bsdtar would read any other
 * format as well, and one of them, mtree, names files of the host. So it receives an ISO only, through a pipe, without
 * what precedes the descriptors.
 *
 * @param device `-`: standard input
 * @throws Failure (usage) if it is not an ISO, or larger than its files may be
 */
export async function* isoEntries(
  device: string,
  { bytes }: MediumLimits,
  { signal, deadlineMs }: Limits,
): AsyncGenerator<MediumEntry> {
  const maxBytes = bytes + MARGIN_BYTES;
  // A file's stream fails with EAGAIN where standard input is a pipe that does not block.
  const source = addAbortSignal(
    signal,
    device === '-' ? process.stdin : createReadStream(device, { highWaterMark: 256 << 10 }),
  );
  const stop = new AbortController();
  try {
    const program = execa('bsdtar', ['--create', '--file=-', '--format=pax', '@-'], {
      cancelSignal: AbortSignal.any([signal, stop.signal]),
      timeout: deadlineMs,
      buffer: { stdout: false },
      encoding: 'buffer',
      input: Readable.from(withoutSystemArea(await checked(source), maxBytes)),
      reject: false,
    });
    const limits = { entries: MAX_ENTRIES, bytes: maxBytes };
    for await (const entry of tarEntries(
      buffersOf(program.stdout),
      signal,
      limits,
      'a site volume',
    )) {
      const { name, type, size, content } = entry;
      yield {
        name: name.replace(/\/$/, ''),
        kind: type,
        size,
        read: () => buffer(Readable.from(content)),
      };
    }
    const { failed, exitCode } = await program;
    if (failed)
      throw refused(`what bsdtar cannot read: it ended with exit code ${exitCode ?? 'none'}`);
  } finally {
    // Of a reader from which no more is wanted.
    stop.abort();
    source.destroy();
  }
}

/** The stream from its first volume descriptor on. @throws Failure (usage) if it is none of an ISO */
async function checked(stream: AsyncIterable<unknown>): Promise<AsyncIterable<Buffer>> {
  const pieces = buffersOf(stream)[Symbol.asyncIterator]();
  const needed = SYSTEM_AREA_BYTES + MAGIC.length;
  let start = Buffer.alloc(0);
  while (start.length < needed) {
    const { done, value } = await pieces.next();
    if (done === true) break;
    start = Buffer.concat([start, value]);
  }
  const descriptors = start.subarray(SYSTEM_AREA_BYTES);
  if (!descriptors.subarray(0, MAGIC.length).equals(MAGIC)) {
    throw refused('no files: it is not an ISO 9660 file system');
  }
  return (async function* () {
    yield descriptors;
    for (;;) {
      const { done, value } = await pieces.next();
      if (done === true) return;
      yield value;
    }
  })();
}

/** What bsdtar receives. An ISO is not searched beyond what its files may have. */
async function* withoutSystemArea(
  descriptors: AsyncIterable<Buffer>,
  maxBytes: number,
): AsyncGenerator<Buffer> {
  yield Buffer.alloc(SYSTEM_AREA_BYTES);
  let left = maxBytes;
  for await (const piece of descriptors) {
    yield piece.subarray(0, left);
    left -= piece.length;
    if (left <= 0) return;
  }
}

async function* buffersOf(stream: AsyncIterable<unknown>): AsyncGenerator<Buffer> {
  for await (const piece of stream) if (Buffer.isBuffer(piece)) yield piece;
}
