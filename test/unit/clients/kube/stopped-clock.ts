import { syncBuiltinESMExports } from 'node:module';
import { mock } from 'node:test';
import timers from 'node:timers/promises';
import type { Test } from 'tap';

interface Alarm {
  readonly due: number;
  readonly ring: () => void;
}

/** Time that only passes when the test says so. Network requests continue meanwhile. */
export class StoppedClock {
  /** The deadlines passed to `AbortSignal.timeout`, in milliseconds. */
  readonly deadlines: number[] = [];
  readonly #sleeps = new Set<Alarm>();
  readonly #ends = new Set<Alarm>();
  #fellAsleep = Promise.withResolvers<void>();
  #now = 1_000_000;

  get now(): number {
    return this.#now;
  }

  /** Advances the time without firing timers that are due. */
  jump(ms: number): void {
    this.#now += ms;
    mock.timers.setTime(Date.now() + ms);
  }

  /** Advances the time and fires all timers that are due. */
  pass(ms: number): void {
    this.jump(ms);
    for (const alarms of [this.#ends, this.#sleeps]) {
      const due = [...alarms].filter((alarm) => alarm.due <= this.#now);
      for (const alarm of due.sort((a, b) => a.due - b.due)) {
        alarms.delete(alarm);
        alarm.ring();
      }
    }
  }

  /** Waits for a sleep; returns the remaining time of the shortest one. */
  async sleeping(): Promise<number> {
    while (this.#sleeps.size === 0) await this.#fellAsleep.promise;
    return Math.min(...[...this.#sleeps].map(({ due }) => due)) - this.#now;
  }

  /** Waits for a sleep and ends the shortest one; returns its remaining time. */
  async wake(): Promise<number> {
    const ms = await this.sleeping();
    this.pass(ms);
    return ms;
  }

  readonly sleep = async (ms: number, value: unknown, { signal }: { signal: AbortSignal }) => {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const alarm = { due: this.#now + ms, ring: () => resolve(value) };
    const abort = () => {
      this.#sleeps.delete(alarm);
      reject(new DOMException('The operation was aborted', 'AbortError'));
    };
    if (signal.aborted) abort();
    else this.#sleeps.add(alarm);
    signal.addEventListener('abort', abort, { once: true });
    this.#fellAsleep.resolve();
    this.#fellAsleep = Promise.withResolvers<void>();
    return await promise;
  };

  readonly timeout = (ms: number): AbortSignal => {
    const end = new AbortController();
    const ring = () => end.abort(new DOMException('deadline exceeded', 'TimeoutError'));
    this.deadlines.push(ms);
    this.#ends.add({ due: this.#now + ms, ring });
    return end.signal;
  };
}

/** Until the test ends, time only passes by this clock, and random pauses have their maximum length. */
export function stopClock(t: Test): StoppedClock {
  const clock = new StoppedClock();
  mock.timers.enable({ apis: ['Date'], now: new Date('2030-01-01T12:00:00Z') });
  const replaced = [
    mock.method(timers, 'setTimeout', clock.sleep),
    mock.method(AbortSignal, 'timeout', clock.timeout),
    mock.method(performance, 'now', () => clock.now),
    mock.method(Math, 'random', () => 1),
  ];
  // Updates modules that have imported the function by name.
  syncBuiltinESMExports();
  t.teardown(() => {
    for (const each of replaced) each.mock.restore();
    syncBuiltinESMExports();
    mock.timers.reset();
  });
  return clock;
}
