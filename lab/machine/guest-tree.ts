import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { execa } from 'execa';
import { Failure } from '../../lib/base/errors/failure.ts';
import { holds, waitUntil } from '../../lib/base/wait/wait-until.ts';
import { hasEnded } from '../host/background.ts';
import { quickly } from '../host/command.ts';
import { teardownSignal } from '../host/mount.ts';

const LOOK_EVERY_MS = 50;
const HELP_MS = 10_000;

/** The guest's files, mounted in the lab. */
export interface GuestTree {
  readonly path: string;
  /** Leaves an empty folder. Idempotent. */
  unmount(): Promise<void>;
}

/**
 * Mounts the guest's file tree, as its processes see it, at `target`: every scenario and check reads and writes a host's
 * files by their paths, whatever it runs on. sshfs talks to the sftp-server in the guest without a network, through
 * `socket`. It remembers nothing: what the guest changes is seen at once.
 *
 * @param startServer starts the sftp-server, which ends when nobody is at the other end of its port
 */
export async function mountGuestTree(
  {
    socket,
    target,
    log,
  }: { readonly socket: string; readonly target: string; readonly log: string },
  deadlineMs: number,
  signal: AbortSignal,
  startServer: () => Promise<void>,
): Promise<GuestTree> {
  await mkdir(target, { recursive: true });
  const sshfs = await startSshfs(socket, target, log);
  const ended = new Promise((resolve) => sshfs.once('close', resolve));
  try {
    await startServer();
    const state = 'the files of the machine do not answer';
    const late = () => new Failure('deadline', state, { fix: `Read ${log}` });
    const isMounted = async () => {
      // Not by a look at it, which would wait for the guest without a deadline.
      if (await isMountPoint(target)) return true;
      if (hasEnded(sshfs)) throw late();
      return false;
    };
    const options = { signal, deadlineMs, everyMs: LOOK_EVERY_MS, late };
    await waitUntil(holds(isMounted, state), options);
  } catch (error) {
    sshfs.kill('SIGKILL');
    throw error;
  }
  const unmount = async () => {
    // Then nothing waits any more for an answer of a machine that is gone. With its machine, it ends by itself.
    sshfs.kill('SIGKILL');
    await ended;
    if (!(await isMountPoint(target))) return;
    await quickly('umount', ['--lazy', target], teardownSignal());
  };
  return { path: target, unmount };
}

async function isMountPoint(path: string): Promise<boolean> {
  const mounts = (await readFile('/proc/self/mounts', 'utf8')).split('\n');
  return mounts.some((line) => line.split(' ')[1] === path);
}

/** The socket itself is its input and output: if this process passed the bytes on, its own look at a file would stop it. */
async function startSshfs(socket: string, target: string, log: string): Promise<ChildProcess> {
  const connection = connect(socket);
  await once(connection, 'connect');
  connection.pause();
  const errors = openSync(log, 'a', 0o600);
  const uncached = ['dir_cache=no', 'attr_timeout=0', 'entry_timeout=0', 'negative_timeout=0'];
  const options = ['passive', ...uncached, ...(await everyLink())];
  const sshfs = spawn('sshfs', ['-f', '-o', options.join(','), ':/', target], {
    stdio: [connection, connection, errors],
  });
  closeSync(errors);
  connection.destroy();
  return sshfs;
}

/**
 * `/usr/local` is `../var/usrlocal` there. Newer versions of sshfs refuse to read such a link unless they
 * are told to; older ones do not know the option.
 */
async function everyLink(): Promise<string[]> {
  const { stdout } = await execa('sshfs', ['--help'], { timeout: HELP_MS, reject: false });
  return stdout.includes('no_contain_symlinks') ? ['no_contain_symlinks'] : [];
}
