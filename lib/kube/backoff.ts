const firstMs = 100;

/**
 * Pause before the next try after so many failures in a row: doubling from 0.1 s
 * to `longestMs`, shortened by chance so that callers do not return in step. What the
 * server asked for is kept as a minimum.
 */
export function backoffMs(failures: number, retryAfterMs = 0, longestMs = 5000): number {
  const full = Math.min(longestMs, firstMs * 2 ** Math.max(0, failures - 1));
  return Math.max(retryAfterMs, full * (0.75 + Math.random() / 4));
}
