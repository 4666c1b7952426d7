import { text } from 'node:stream/consumers';
import { execa } from 'execa';
import { Failure } from '../base/errors/failure.ts';
import { searchPath } from './search-path.ts';

/** A program and its arguments. */
export type ProgramCall = readonly [program: string, ...args: string[]];

export interface OutputOptions {
  /** Exit codes that are not failures. Default: only 0. */
  readonly accepts?: readonly number[];
  /** Include standard error in the output, in the order written. */
  readonly bothStreams?: boolean;
}

/** Lines of standard error included in the reason. */
const TOLD_LINES = 3;

/** The complete output of a program that prints little. @throws Failure as `output`. */
export const outputText = (call: ProgramCall, signal: AbortSignal, options: OutputOptions = {}) =>
  text(output(call, signal, options));

/** Standard output as a stream; the program is ended when the signal aborts or the reader stops. */
export async function* output(
  [program, ...args]: ProgramCall,
  signal: AbortSignal,
  { accepts = [0], bothStreams = false }: OutputOptions = {},
): AsyncGenerator<Uint8Array> {
  const child = execa(program, args, {
    stdin: 'ignore',
    stdout: 'pipe',
    all: bothStreams,
    buffer: { stdout: false, stderr: !bothStreams, all: false },
    maxBuffer: 64 * 1024,
    encoding: 'buffer',
    cancelSignal: signal,
    forceKillAfterDelay: 2000,
    reject: false,
    // Locale-independent dates and numbers.
    env: { LC_ALL: 'C.UTF-8', TZ: 'UTC', PATH: searchPath() },
  });
  let isRead = false;
  try {
    const from = bothStreams ? 'all' : 'stdout';
    yield* child.iterable({ from, binary: true, preserveNewlines: true });
    isRead = true;
  } finally {
    if (!isRead) child.kill();
  }
  const { failed, exitCode, stderr, code } = await child;
  if (!failed || (exitCode !== undefined && accepts.includes(exitCode))) return;
  signal.throwIfAborted();
  const said = Buffer.from(stderr ?? '')
    .toString('utf8')
    .trim()
    .split('\n')
    .slice(-TOLD_LINES);
  const how = code === 'ENOENT' ? 'program not found' : `exit code ${exitCode ?? 'none'}`;
  throw new Failure('retry', `${program} failed`, {
    found: [how, ...said].filter((line) => line !== '').join(' | '),
  });
}
