import type { Logger } from '../../base/log/logger.ts';
import type { Wait } from '../../base/wait/limits.ts';

/** Is told what a step is waiting for. */
export interface WaitingListener {
  /** Returns whether the description is new, also across attempts of one step. */
  waiting(description: string | undefined): boolean;
  /** What keeps the wait from ending; undefined if nothing is known. */
  trouble?(sentence: string | undefined): void;
}

/**
 * What a running step receives: a signal to stop, and a way to report. The signal
 * fires at the step's deadline and when the agent is told to stop.
 */
export class Progress {
  readonly signal: AbortSignal;
  readonly #log: Logger;
  readonly #listener: WaitingListener;
  readonly #endsAtMs: number;
  #waiting: string | undefined;
  #trouble: string | undefined;
  #waitedMs = 0;

  constructor(signal: AbortSignal, endsAtMs: number, log: Logger, listener: WaitingListener) {
    this.signal = signal;
    this.#endsAtMs = endsAtMs;
    this.#log = log;
    this.#listener = listener;
  }

  /** Time left until the step's deadline, for calls that need a timeout of their own. */
  remainingMs(): number {
    return Math.max(0, Math.round(this.#endsAtMs - performance.now()));
  }

  /** Reports one event of the step: a sentence and its fields. */
  say(sentence: string, fields: Record<string, unknown> = {}): void {
    this.#log.info(fields, sentence);
  }

  warn(sentence: string, fields: Record<string, unknown> = {}): void {
    this.#log.warn(fields, sentence);
  }

  /** Reports what is being waited for; logged when it changes. */
  waitingFor(description: string): void {
    if (description === this.#waiting) return;
    this.#waiting = description;
    if (!this.#listener.waiting(description)) return;
    const left = `${Math.round(this.remainingMs() / 1000)}s`;
    this.#log.info({ left }, `Waiting for ${description}`);
  }

  /** Reports why what is waited for does not come, where that is known; undefined once it is over. Logged when it changes. */
  trouble(sentence: string | undefined): void {
    if (sentence === this.#trouble) return;
    this.#trouble = sentence;
    this.#listener.trouble?.(sentence);
    if (sentence !== undefined) this.#log.warn(sentence);
  }

  /**
   * Runs something that waits for others, and counts its time as waiting. The body gets the limits of the step, and reports
   * what it sees meanwhile: it follows the description.
   */
  async wait<T>(description: string, body: (wait: Wait) => Promise<T>): Promise<T> {
    this.waitingFor(description);
    const began = performance.now();
    try {
      const result = await body({
        signal: this.signal,
        deadlineMs: this.remainingMs(),
        report: (state) => this.waitingFor(`${description}: ${state}`),
      });
      // Kept on failure: the error includes what was last waited for.
      this.#waiting = undefined;
      this.#listener.waiting(undefined);
      this.trouble(undefined);
      return result;
    } finally {
      this.#waitedMs += performance.now() - began;
    }
  }

  get lastWait(): string | undefined {
    if (this.#waiting === undefined || this.#trouble === undefined) return this.#waiting;
    return `${this.#waiting}: ${this.#trouble}`;
  }

  get waitedMs(): number {
    return this.#waitedMs;
  }
}
