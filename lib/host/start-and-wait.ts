import { Failure } from '../base/errors/failure.ts';
import { run } from './command.ts';

/** Far beyond the deadlines of any plan: the unit's own, which systemd keeps and its agent extends, end it before. */
export const LONGEST_START_MS = 24 * 3_600_000;

/**
 * Starts a oneshot unit and waits until it has ended, which its own deadlines see to. Its failure is read from what it
 * leaves; if it leaves nothing, what systemd said counts, which is returned.
 */
export async function startAndWait(unit: string): Promise<Failure | undefined> {
  const limits = { signal: new AbortController().signal, deadlineMs: LONGEST_START_MS };
  await run('systemctl', ['reset-failed', unit], limits).catch(() => undefined);
  return run('systemctl', ['start', unit], limits).then(
    () => undefined,
    (error: unknown) => {
      if (error instanceof Failure) return error;
      throw error;
    },
  );
}
