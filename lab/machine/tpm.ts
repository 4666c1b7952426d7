import { mkdir } from 'node:fs/promises';
import { ensureComponent } from '../components/component.ts';
import { swtpm, swtpmPaths } from '../components/swtpm.ts';
import { startInBackground, untilItListens } from '../host/background.ts';

export interface MachineTpmOptions {
  /** Folder with what the TPM keeps without power; each is another TPM. */
  readonly state: string;
  /** Of its control channel, for qemu. */
  readonly socket: string;
  readonly log: string;
}

/** Turns a software TPM on, which ends with the qemu that connects to it. Returns how to end it without one. */
export async function startMachineTpm(
  { state, socket, log }: MachineTpmOptions,
  signal: AbortSignal,
): Promise<() => Promise<void>> {
  await mkdir(state, { recursive: true, mode: 0o700 });
  const { program, libraries } = swtpmPaths(
    await ensureComponent(swtpm, { signal, report: () => undefined }),
  );
  const running = startInBackground(
    program,
    [
      'socket',
      '--tpm2',
      '--tpmstate',
      `dir=${state}`,
      '--ctrl',
      `type=unixio,path=${socket}`,
      '--terminate',
    ],
    log,
    { LD_LIBRARY_PATH: libraries.join(':') },
  );
  await untilItListens('swtpm', running, { socket, log });
  return async () => {
    running.child.kill('SIGTERM');
    await running.ended;
  };
}
