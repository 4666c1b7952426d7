import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { swtpmPaths } from '../components/swtpm.ts';
import { freePort } from './free-port.ts';

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
  const port = fixed ?? (await freePort());
  const running = execa(
    program,
    [
      ...['socket', '--tpm2', '--tpmstate', `dir=${state}`],
      ...['--server', `type=tcp,port=${port},bindaddr=${host}`],
      // The library of systemd expects the control channel at the next port.
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
      await shutDown(host, port);
      running.kill('SIGTERM');
      await running;
    },
  };
}

/** TPM2_Shutdown(TPM_SU_CLEAR). */
const SHUTDOWN = Buffer.from('80010000000c000001450000', 'hex');
const ANSWER_MS = 5_000;

/**
 * As the kernel does when a host shuts down. A TPM that merely loses its power counts that as an attack, and locks itself after
 * three.
 */
async function shutDown(host: string, port: number): Promise<void> {
  const socket = connect(port, host);
  try {
    const signal = AbortSignal.timeout(ANSWER_MS);
    await once(socket, 'connect', { signal });
    socket.write(SHUTDOWN);
    await once(socket, 'data', { signal });
  } catch {
    // It has ended with its last connection.
  } finally {
    socket.destroy();
  }
}
