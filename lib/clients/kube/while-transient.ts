import { setTimeout as sleep } from 'node:timers/promises';
import { backoffMs } from './backoff.ts';
import { isKubeError } from './kube-error.ts';
import { isTransient } from './retry-policy.ts';

/**
 * Repeats a request while its failure is transient: the API server is busy, restarts or cannot be
 * reached. One of many requests that fails for a moment does not end them all.
 *
 * @param longestMs from the first failure on; then the last one is thrown.
 */
export async function whileTransient<T>(
  request: () => Promise<T>,
  { signal, longestMs }: { readonly signal: AbortSignal; readonly longestMs: number },
): Promise<T> {
  let endsAt: number | undefined;
  for (let failures = 1; ; failures++) {
    try {
      return await request();
    } catch (error) {
      signal.throwIfAborted();
      // The request itself has to change, such as one that continues an expired list.
      if (!isKubeError(error) || error.kind === 'expired' || !isTransient(error)) throw error;
      endsAt ??= performance.now() + longestMs;
      const pauseMs = backoffMs(failures, error.retryAfterMs);
      if (performance.now() + pauseMs > endsAt) throw error;
      await sleep(pauseMs, undefined, { signal });
    }
  }
}
