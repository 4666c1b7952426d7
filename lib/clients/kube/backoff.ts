const firstMs = 100;

/**
 * The pause before the next attempt after that many failures in a row: it doubles from
 * 0.1 s to `longestMs`, with jitter so that callers do not retry in step. It is at least
 * what the server asked for.
 */
export function backoffMs(failures: number, retryAfterMs = 0, longestMs = 5000): number {
  const full = Math.min(longestMs, firstMs * 2 ** Math.max(0, failures - 1));
  return Math.max(retryAfterMs, full * (0.75 + Math.random() / 4));
}
