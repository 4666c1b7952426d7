import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startInBackground, untilItListens } from '../host/background.ts';

/** A disk with a write-back cache of its own, as real ones have. */
export interface DiskServer {
  /** Unix socket; speaks NBD. */
  readonly socket: string;
  /** From now on, every write ends with an I/O error, or no more. */
  failWrites(fails: boolean): Promise<void>;
  /** Everything that was not flushed is gone. */
  cutPower(): Promise<void>;
  /** To be called when the machine has ended; its last flush has written everything. */
  stop(): Promise<void>;
}

/**
 * Serves a raw disk. What the machine writes stays in nbdkit's cache, an unnamed file, until the machine flushes it. qemu
 * alone cannot lose a write: its own cache is the kernel's, which outlives it.
 *
 * @param folder for the socket and the cache, on a real file system
 */
export async function serveDisk(
  file: string,
  { folder, name, log }: { readonly folder: string; readonly name: string; readonly log: string },
): Promise<DiskServer> {
  const socket = join(folder, `${name}.sock`);
  const errors = join(folder, `${name}-errors`);
  const filters = ['--filter=error', '--filter=cache'];
  const failing = ['error=EIO', 'error-pwrite-rate=100%', `error-pwrite-file=${errors}`];
  const options = ['--foreground', '--unix', socket, ...filters];
  const parameters = [file, 'cache=writeback', ...failing];
  const server = startInBackground('nbdkit', [...options, 'file', ...parameters], log, {
    TMPDIR: folder,
  });
  await untilItListens('nbdkit', server, { socket, log });
  const end = async (signal: NodeJS.Signals) => {
    server.child.kill(signal);
    await server.ended;
  };
  const failWrites = (fails: boolean) =>
    fails ? writeFile(errors, '') : rm(errors, { force: true });
  return { socket, failWrites, cutPower: () => end('SIGKILL'), stop: () => end('SIGTERM') };
}
