import { durationText } from '../../../lib/base/duration.ts';

const EVERY_MS = 10_000;

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

/** Lines about the parts that are fetched: each that is there, and every few seconds those that are under way. */
export class FetchProgress {
  readonly #total: number;
  readonly #complain: (line: string) => void;
  readonly #underWay = new Set<string>();
  readonly #begun = performance.now();
  #done = 0;
  #bytes = 0;

  constructor(total: number, complain: (line: string) => void) {
    this.#total = total;
    this.#complain = complain;
  }

  /** Runs the work on one part, which returns its size in bytes. */
  async of(name: string, work: () => Promise<number>): Promise<void> {
    this.#underWay.add(name);
    try {
      const bytes = await work();
      this.#done += 1;
      this.#bytes += bytes;
      this.#complain(`${name} is there: ${megabytes(bytes)}; ${this.#state()}`);
    } finally {
      this.#underWay.delete(name);
    }
  }

  /** Until the returned function is called. */
  start(): () => void {
    const timer = setInterval(() => {
      this.#complain(`Fetching ${[...this.#underWay].join(', ')}; ${this.#state()}`);
    }, EVERY_MS);
    timer.unref();
    return () => clearInterval(timer);
  }

  #state(): string {
    const elapsed = performance.now() - this.#begun;
    return `${this.#done} of ${this.#total} parts, ${megabytes(this.#bytes)} in ${durationText(elapsed)}`;
  }
}
