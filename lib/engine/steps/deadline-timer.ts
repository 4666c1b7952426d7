import { Failure } from '../../base/errors/failure.ts';

/** The maximum of Node's timers in milliseconds; a longer one would fire at once. */
const LONGEST_MS = 0x7fffffff;

/**
 * A signal that fires after `ms`. Unlike `AbortSignal.timeout`, it keeps the
 * process alive, so that the deadline takes effect even if the step waits for
 * nothing else.
 */
export function deadlineTimer(ms: number): Disposable & { readonly signal: AbortSignal } {
  const controller = new AbortController();
  let timer: NodeJS.Timeout;
  const count = (leftMs: number) => {
    const partMs = Math.min(LONGEST_MS, leftMs);
    timer = setTimeout(() => {
      if (leftMs > partMs) count(leftMs - partMs);
      else controller.abort(new DOMException('deadline exceeded', 'TimeoutError'));
    }, partMs);
  };
  count(Math.max(1, Math.round(ms)));
  return { signal: controller.signal, [Symbol.dispose]: () => clearTimeout(timer) };
}

/**
 * The result of `work`, or a failure if `work` is still running `graceMs` after the
 * signal fired: an agent must end at its deadline even if a step ignores its signal.
 */
export async function endedBy<T>(signal: AbortSignal, graceMs: number, work: Promise<T>) {
  let timer: NodeJS.Timeout | undefined;
  const { promise: overdue, reject } = Promise.withResolvers<never>();
  const give = () => {
    const late = () =>
      reject(
        new Failure('retry', 'still running after it was told to stop', { code: 'not-ended' }),
      );
    timer = setTimeout(late, graceMs);
  };
  if (signal.aborted) give();
  signal.addEventListener('abort', give, { once: true });
  try {
    return await Promise.race([work, overdue]);
  } finally {
    signal.removeEventListener('abort', give);
    clearTimeout(timer);
  }
}
