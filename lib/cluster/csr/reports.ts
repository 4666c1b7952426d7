import type { Decision } from './decision.ts';

/** Anybody can send any number of requests; the journal gets so many decisions on those of one requestor. */
const MOST_OF_ONE = 20;
/** And so many on requests of all those of whom nothing is expected. */
const MOST_OF_STRANGERS = 100;

/** Which decisions are reported: each once, and of a requestor some. */
export class Reports {
  /** What was reported last about each request, by its name. */
  readonly #reported = new Map<string, string>();
  readonly #counts = new Map<string, number>();
  #strangers = 0;

  /**
   * The decision if it is to be reported, and whether it is the last one of its kind.
   *
   * @param text equal for the same decision on the same request
   */
  admit(decision: Decision, text: string, isExpected: boolean): Decision | undefined {
    const { request, requestor, judgement } = decision;
    if (judgement.verdict === 'approve') return decision;
    const count = this.#counts.get(requestor) ?? 0;
    if (count === MOST_OF_ONE || this.#reported.get(request) === text) return undefined;
    if (!isExpected && this.#strangers === MOST_OF_STRANGERS) return undefined;
    this.#reported.set(request, text);
    this.#counts.set(requestor, count + 1);
    if (!isExpected) this.#strangers += 1;
    if (!isExpected && this.#strangers === MOST_OF_STRANGERS) {
      return { ...decision, isLastOf: 'unknown hosts' };
    }
    return count + 1 === MOST_OF_ONE ? { ...decision, isLastOf: 'this requestor' } : decision;
  }

  /** A request of that name is another one. */
  forget(request: string): void {
    this.#reported.delete(request);
  }

  /** Of the requests that were reported. */
  names(): string[] {
    return [...this.#reported.keys()];
  }
}
