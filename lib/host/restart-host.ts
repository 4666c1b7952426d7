import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../base/errors/failure.ts';
import { run } from './command.ts';

const REQUEST_MS = 30_000;

/**
 * How long each request may take until this process is told to stop; `--force` skips the orderly end of other units. All
 * together less than the watchdog of a unit, which an agent that has ended its plan does not feed any more.
 */
const REQUESTS = [
  { options: [], waitMs: 45_000 },
  { options: [], waitMs: 60_000 },
  { options: ['--force'], waitMs: 45_000 },
] as const;

/**
 * Has systemd restart the host, and waits until it stops this process for that (`stop`). A host on which nobody can press a
 * button must not stay up because a request was lost, or because a unit keeps a restart from beginning.
 *
 * @param warn is told what is tried next.
 * @throws Failure (retry) if a request is refused, or none of them had an effect.
 */
export async function restartHost(
  stop: AbortSignal,
  warn: (text: string) => void = () => undefined,
): Promise<void> {
  for (const { options, waitMs } of REQUESTS) {
    const command = ['reboot', ...options];
    // Not `stop`: a request that systemd has accepted stops this process while it is answered.
    const signal = AbortSignal.timeout(REQUEST_MS + 1_000);
    await run('systemctl', command, { signal, deadlineMs: REQUEST_MS });
    if (stop.aborted) return;
    await sleep(waitMs, undefined, { signal: stop }).catch(() => undefined);
    if (stop.aborted) return;
    warn(`The host has not begun to restart ${waitMs / 1000} s after it was requested`);
  }
  throw new Failure('retry', 'the host does not restart', {
    fix: 'Look for what keeps it from that: systemctl list-jobs.',
  });
}
