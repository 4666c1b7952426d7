import { syncBuiltinESMExports } from 'node:module';
import { mock } from 'node:test';
import timers from 'node:timers/promises';
import type { Test } from 'tap';

interface Alarm {
  readonly due: number;
  readonly ring: () => void;
}

/** Time that passes only when the test says so. Requests over the network go on meanwhile. */
export class StoppedClock {
  /** The deadlines that were asked for with `AbortSignal.timeout`, in milliseconds. */
  readonly deadlines: number[] = [];
  readonly #sleeps = new Set<Alarm>();
  readonly #ends = new Set<Alarm>();
  #fellAsleep = Promise.withResolvers<void>();
  #now = 1_000_000;

  get now(): number {
    return this.#now;
  }

  /** Lets the time pass while nobody looks: what is due has not ended yet. */
  jump(ms: number): void {
    this.#now += ms;
    mock.timers.setTime(Date.now() + ms);
  }

  /** Lets the time pass, and ends what is due by then. */
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

  /** Returns, once something sleeps, how long the shortest sleep still lasts. */
  async sleeping(): Promise<number> {
    while (this.#sleeps.size === 0) await this.#fellAsleep.promise;
    return Math.min(...[...this.#sleeps].map(({ due }) => due)) - this.#now;
  }

  /** Ends the shortest sleep, once something sleeps; returns how long it still lasted. */
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

/** Until the test ends, no time passes but by the clock, and random pauses are the longest ones. */
export function stopClock(t: Test): StoppedClock {
  const clock = new StoppedClock();
  mock.timers.enable({ apis: ['Date'], now: new Date('2030-01-01T12:00:00Z') });
  const replaced = [
    mock.method(timers, 'setTimeout', clock.sleep),
    mock.method(AbortSignal, 'timeout', clock.timeout),
    mock.method(performance, 'now', () => clock.now),
    mock.method(Math, 'random', () => 1),
  ];
  // Who has imported the function by its name gets the new one.
  syncBuiltinESMExports();
  t.teardown(() => {
    for (const each of replaced) each.mock.restore();
    syncBuiltinESMExports();
    mock.timers.reset();
  });
  return clock;
}
