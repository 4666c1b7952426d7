import { mkdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { swtpmPaths } from '../components/swtpm.ts';

/** A TPM that is on. */
export interface RunningTpm extends AsyncDisposable {
  /** In the notation of `systemd-creds --tpm2-device`. */
  readonly device: string;
}

/**
 * Turns a software TPM on, as a host does when it boots. `state`: a folder with what it keeps; each is another TPM. A TPM
 * without the kernel's resource manager has room for a few uses until it is turned off and on.
 */
export async function startTpm(
  folder: string,
  state: string,
  { host = '127.0.0.1', port: fixed }: { readonly host?: string; readonly port?: number } = {},
): Promise<RunningTpm> {
  await mkdir(state, { recursive: true, mode: 0o700 });
  const { program, libraries } = swtpmPaths(folder);
  const port = fixed ?? (await freePort(host));
  const running = execa(
    program,
    [
      ...['socket', '--tpm2', '--tpmstate', `dir=${state}`],
      ...['--server', `type=tcp,port=${port},bindaddr=${host}`],
      ...['--ctrl', `type=tcp,port=${port + 1},bindaddr=${host}`],
      ...['--flags', 'not-need-init,startup-clear'],
    ],
    { env: { LD_LIBRARY_PATH: libraries.join(':') }, reject: false, all: true },
  );
  let hasEnded = false;
  void running.then(() => {
    hasEnded = true;
  });
  // Not by a connection: it serves one, and ends with it.
  await sleep(300);
  if (hasEnded) throw new Error(`swtpm has ended: ${(await running).all}`);
  return {
    device: `swtpm:host=${host},port=${port}`,
    async [Symbol.asyncDispose]() {
      running.kill('SIGTERM');
      await running;
    },
  };
}

/** Followed by another one: the library of systemd expects the control channel there. */
async function freePort(host: string): Promise<number> {
  const server = createServer().listen(0, host);
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port is free');
  return address.port;
}
