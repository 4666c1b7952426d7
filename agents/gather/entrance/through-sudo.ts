import { execa } from 'execa';
import { tarEntries } from '../../../lib/base/archive/tar.ts';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { unzipped } from '../collecting/spool.ts';
import type { GatherArguments } from './command-line.ts';
import {
  type Destination,
  type OpenOptions,
  openFolder,
  openOutput,
  rootOf,
  type Written,
} from './destination.ts';

/**
 * Root's process ends by its own deadline, gatherMs, which only root can read (/etc/sno-agents has keys). This one is
 * for a process that hangs.
 */
const HANGING_MS = 1_800_000;

export interface SudoOptions extends OpenOptions {
  /** The command that restarts this program. */
  readonly self: readonly string[];
}

/**
 * Has root gather to its standard output, and writes the bundle with the caller's own rights:
 * root writes into no user's folder. Returns the path of the bundle.
 */
export async function gatherThroughSudo(
  args: GatherArguments,
  destination: Destination,
  options: SudoOptions,
): Promise<Written | undefined> {
  if (destination.kind !== 'folder') {
    const { output, commit, discard } = await openOutput(destination, options);
    try {
      for await (const chunk of asRoot(args, options)) await output.write(chunk);
      return await commit();
    } catch (error) {
      await discard();
      throw error;
    }
  }
  const folder = await openFolder(destination, options);
  const prefix = `${rootOf(args.id)}/`;
  // When told to stop, root closes the archive: it is still read to its end.
  const { signal } = new AbortController();
  const entries = tarEntries(unzipped(asRoot({ ...args, isPlain: true }, options)), signal);
  for await (const { name, type, content } of entries) {
    if (type === 'file' && name.startsWith(prefix)) {
      await folder.sink.addStream(name.slice(prefix.length), content);
    }
  }
  await folder.sink.close();
  return folder.commit();
}

/** The archive as root writes it; fails if root produces none. */
async function* asRoot(
  args: GatherArguments,
  { self, signal }: SudoOptions,
): AsyncGenerator<Uint8Array> {
  const child = execa('sudo', ['-n', '--', ...self, ...rootArguments(args)], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
    buffer: false,
    reject: false,
  });
  // An unprivileged process cannot signal root's: the end of its input stops it.
  const stop = () => child.stdin.end();
  child.stdin.on('error', () => undefined);
  const giveUp = () => child.stdout.destroy(new Error('gather as root did not end in time'));
  const deadline = setTimeout(giveUp, HANGING_MS);
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    for await (const chunk of child.stdout) if (chunk instanceof Uint8Array) yield chunk;
  } finally {
    signal.removeEventListener('abort', stop);
    clearTimeout(deadline);
    stop();
  }
  const { failed, exitCode, code } = await child;
  if (failed) throw notAsRoot(code, exitCode);
}

const notAsRoot = (code: string | undefined, exitCode: number | undefined) =>
  new Failure('retry', 'gather as root failed', {
    found: code === 'ENOENT' ? 'sudo not found' : `exit code ${exitCode ?? 'none'} of sudo -n`,
    fix: 'Run it as root, or as a user who can use sudo without a password.',
  });

/** Prints what root would collect, or what keeps it from being root. @throws Failure (retry) without an exit code of sudo's */
export async function listThroughSudo(
  args: GatherArguments,
  { self, signal }: Pick<SudoOptions, 'self' | 'signal'>,
): Promise<number> {
  const { exitCode, code } = await execa('sudo', ['-n', '--', ...self, ...rootArguments(args)], {
    stdio: ['ignore', 'inherit', 'inherit'],
    reject: false,
    cancelSignal: signal,
    timeout: HANGING_MS,
  });
  if (exitCode === undefined) throw notAsRoot(code, exitCode);
  return exitCode;
}

/** The same request with the bundle on standard output. */
export function rootArguments(args: GatherArguments): string[] {
  const { entrance, action, id, sinceMs, only, limitBytes, masters, recipients, isPlain } = args;
  return [
    entrance,
    ...['--id', id],
    ...(sinceMs === undefined ? [] : ['--since', `@${Math.floor(sinceMs / 1000)}`]),
    ...(only.size === 0 ? [] : ['--only', [...only].join(',')]),
    ...(limitBytes === undefined ? [] : ['--limit', (limitBytes / 2 ** 20).toFixed(3)]),
    ...recipients.flatMap((recipient) => ['--recipient', recipient]),
    ...(isPlain ? ['--plain'] : []),
    ...(action === 'list' ? ['--list'] : ['--to', '-', '--stop-with-input']),
    ...(masters.length === 0 ? [] : ['--', ...masters]),
  ];
}
