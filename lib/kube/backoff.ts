const firstMs = 100;
const longestMs = 5000;

/**
 * Pause before the next try after so many failures in a row: doubling from 0.1 s
 * to 5 s, shortened by chance so that callers do not return in step. What the
 * server asked for is kept as a minimum.
 */
export function backoffMs(failures: number, retryAfterMs = 0): number {
  const full = Math.min(longestMs, firstMs * 2 ** Math.max(0, failures - 1));
  return Math.max(retryAfterMs, full * (0.75 + Math.random() / 4));
}
