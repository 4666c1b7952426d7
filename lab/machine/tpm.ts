import { mkdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../../lib/errors/failure.ts';
import { exists, readTextIfPresent } from '../../lib/host/files.ts';
import { ensureComponent } from '../components/component.ts';
import { swtpm, swtpmPaths } from '../components/swtpm.ts';
import { startInBackground } from '../host/background.ts';

const START_MS = 10_000;
const LOOK_EVERY_MS = 20;

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
  const until = Date.now() + START_MS;
  while (!(await exists(socket))) {
    if (Date.now() > until || running.child.exitCode !== null) {
      throw new Failure('fatal', 'swtpm did not start', {
        found: (await readTextIfPresent(log))?.trim() ?? 'no output',
      });
    }
    await sleep(LOOK_EVERY_MS);
  }
  return async () => {
    running.child.kill('SIGTERM');
    await running.ended;
  };
}
