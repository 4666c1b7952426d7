import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { execa } from 'execa';
import { tarEntries } from '../../base/archive/tar.ts';
import { Failure } from '../../base/errors/failure.ts';
import type { Limits } from '../../base/wait/limits.ts';
import type { HostPaths } from '../paths.ts';
import { collectFiles, type MediumEntry, type MediumLimits } from './collect.ts';
import type { Medium } from './find-media.ts';
import { unprivileged, unprivilegedImage } from './unprivileged.ts';

/** Headers of a tar archive, of 64 files and their extended names. */
const MARGIN_BYTES = 1 << 20;

/** As a shell and systemd-run report the signal. */
const SIGPIPE_EXIT = 128 + 13;

/**
 * Copies the files of a medium into a new folder. A process without rights reads the medium and passes the files on as
 * a tar archive; what it passes on is judged again.
 *
 * @throws Failure (usage) if the medium has anything else than some regular files
 */
export async function copyMedium(
  paths: HostPaths,
  medium: Medium,
  folder: string,
  limits: MediumLimits,
  time: Limits,
): Promise<void> {
  const from = `the medium ${medium.label}${medium.label === '' ? '' : ' '}in ${medium.device}`;
  const args = await unprivileged(paths, 'read-medium', medium, time);
  await copyFiles({ args, from }, folder, limits, time);
}

/** The same for an ISO in a file; `from` is where it comes from, for messages. */
export async function copyImage(
  paths: HostPaths,
  { file, from }: { readonly file: string; readonly from: string },
  folder: string,
  limits: MediumLimits,
  time: Limits,
): Promise<void> {
  const args = unprivilegedImage(paths, time);
  await copyFiles({ args, from, input: file }, folder, limits, time);
}

/** A process of systemd-run that passes the files on, and where they come from. */
interface Reader {
  readonly args: readonly string[];
  readonly from: string;
  /** The file that it has on standard input. */
  readonly input?: string;
}

async function copyFiles(
  { args, from, input }: Reader,
  folder: string,
  limits: MediumLimits,
  { signal, deadlineMs }: Limits,
): Promise<void> {
  const program = execa('systemd-run', args, {
    cancelSignal: signal,
    timeout: deadlineMs,
    buffer: { stdout: false },
    encoding: 'buffer',
    stdin: input === undefined ? 'ignore' : { file: input },
    reject: false,
  });
  const archive = entriesOf(program.stdout, limits, signal);
  const files = await collectFiles(archive, limits).then(
    (collected) => collected,
    (error: unknown) => error,
  );
  const { exitCode, stderr, timedOut } = await program;
  const last = Buffer.from(stderr).toString().trim().split('\n').at(-1) ?? '';
  const said = timedOut ? `it took longer than ${deadlineMs / 1000} s to read it` : last;
  // A reader of which no more is wanted dies of its broken pipe, or has ended before; what is wrong is in what it passed on.
  const isCutOff = exitCode === SIGPIPE_EXIT && said === '';
  if (exitCode !== 0 && !(isCutOff && files instanceof Error)) throw unread(from, exitCode, said);
  if (!(files instanceof Map)) throw files;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await chmod(folder, 0o700);
  for (const [name, contents] of files) {
    await mkdir(dirname(join(folder, name)), { recursive: true, mode: 0o700 });
    await writeFile(join(folder, name), contents, { mode: 0o600, flag: 'wx' });
  }
}

async function* entriesOf(
  stdout: AsyncIterable<unknown>,
  { files, bytes }: MediumLimits,
  signal: AbortSignal,
): AsyncGenerator<MediumEntry> {
  const limits = { entries: files, bytes: bytes + MARGIN_BYTES };
  for await (const entry of tarEntries(buffersOf(stdout), signal, limits, 'a site volume')) {
    const { name, type, size, content } = entry;
    yield {
      name,
      kind: type,
      size,
      read: async () => Buffer.concat(await Readable.from(content).toArray()),
    };
  }
}

async function* buffersOf(stream: AsyncIterable<unknown>): AsyncGenerator<Buffer> {
  for await (const piece of stream) if (Buffer.isBuffer(piece)) yield piece;
}

/** The last line is what the reader says (agents/reconfigure/read-medium.ts). */
function unread(from: string, exitCode: number | undefined, said: string): Failure {
  return new Failure('usage', `${from} cannot be used`, {
    code: 'medium-refused',
    found: said === '' ? `its reader ended with ${exitCode ?? 'a signal'}` : said.slice(0, 400),
    fix: 'Create the medium again, or use another stick.',
  });
}
