import { run } from '../../lib/host/command.ts';

const RESTART_MS = 120_000;

/** Restarts the container runtime that runs, which reads its proxy only then. Containers go on. */
export async function restartRuntime(signal: AbortSignal): Promise<void> {
  for (const unit of ['containerd.service', 'crio.service']) {
    await run('systemctl', ['try-restart', unit], { signal, deadlineMs: RESTART_MS });
  }
}
