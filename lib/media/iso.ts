import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { execa } from 'execa';
import { tarEntries } from '../image/tar.ts';
import type { Limits } from '../wait/limits.ts';
import { type MediumEntry, type MediumLimits, refused } from './collect.ts';

/** What an archive may have besides the files: headers, and what an operating system added. */
const MARGIN_BYTES = 16 << 20;
const MAX_ENTRIES = 1024;

/**
 * The entries of an ISO 9660 file system: bsdtar (libarchive) converts it to a tar archive.
 *
 * @param device `-`: standard input
 */
export async function* isoEntries(
  device: string,
  { bytes }: MediumLimits,
  { signal, deadlineMs }: Limits,
): AsyncGenerator<MediumEntry> {
  const program = execa('bsdtar', ['--create', '--file=-', '--format=pax', `@${device}`], {
    cancelSignal: signal,
    timeout: deadlineMs,
    buffer: { stdout: false },
    encoding: 'buffer',
    stdin: device === '-' ? 'inherit' : 'ignore',
    reject: false,
  });
  const limits = { entries: MAX_ENTRIES, bytes: bytes + MARGIN_BYTES };
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
}

async function* buffersOf(stream: AsyncIterable<unknown>): AsyncGenerator<Buffer> {
  for await (const piece of stream) if (Buffer.isBuffer(piece)) yield piece;
}
