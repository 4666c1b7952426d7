import type { Test } from 'tap';
import { Failure } from '../../../../lib/base/errors/failure.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';

/**
 * Begins something that is told to stop by the request which `silent` does not answer: it must end with the reason of the
 * signal, and with no failure of its own.
 */
export async function toldToStop(
  t: Test,
  what: string,
  begin: (silent: () => Promise<never>, signal: AbortSignal) => Promise<unknown>,
): Promise<void> {
  const stop = new AbortController();
  const told = new Failure('retry', 'told to stop');
  const silent = () => {
    stop.abort(told);
    return new Promise<never>(() => {});
  };
  t.equal(await thrownBy(begin(silent, stop.signal)), told, what);
}
