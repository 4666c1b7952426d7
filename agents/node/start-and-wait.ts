import { Failure } from '../../lib/errors/failure.ts';
import { run } from '../../lib/host/command.ts';

/**
 * Starts a oneshot unit that runs a plan with these steps, and waits until it has ended. Its failure is
 * read from what it leaves.
 */
export async function startAndWait(
  unit: string,
  { steps }: { readonly steps: readonly { readonly deadlineMs: number }[] },
): Promise<void> {
  const deadlineMs = steps.reduce((sum, step) => sum + step.deadlineMs, 0);
  const limits = { signal: new AbortController().signal, deadlineMs };
  await run('systemctl', ['reset-failed', unit], limits).catch(() => undefined);
  await run('systemctl', ['start', unit], limits).catch((error: unknown) => {
    if (!(error instanceof Failure)) throw error;
  });
}
