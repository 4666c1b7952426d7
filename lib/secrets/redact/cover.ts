/** A part of a text, and what was found there. */
export interface CoveredPlace<T> {
  readonly start: number;
  readonly end: number;
  readonly of: T;
}

/**
 * The union of places, of which there can be hundreds at each byte. Each place that is added ends after every earlier
 * one begins. Of what overlaps, the place that begins first says what it is; of such, the longest.
 */
export class Cover<T> {
  /** In order, none overlapping. `firstEnd`: of the place that says what it is. */
  readonly #spans: (CoveredPlace<T> & { readonly firstEnd: number })[] = [];

  get spans(): readonly CoveredPlace<T>[] {
    return this.#spans;
  }

  /** Whether adding the place would change nothing. */
  holds({ start, end }: Pick<CoveredPlace<T>, 'start' | 'end'>): boolean {
    const last = this.#spans.at(-1);
    if (last === undefined || end > last.end) return false;
    return start > last.start || (start === last.start && end <= last.firstEnd);
  }

  add(place: CoveredPlace<T>): void {
    if (this.holds(place)) return;
    let span = { ...place, firstEnd: place.end };
    for (let last = this.#spans.at(-1); last !== undefined && last.end > span.start; ) {
      this.#spans.pop();
      const isFirst =
        last.start < span.start || (last.start === span.start && last.firstEnd >= span.firstEnd);
      const first = isFirst ? last : span;
      span = { ...first, end: Math.max(last.end, span.end) };
      last = this.#spans.at(-1);
    }
    this.#spans.push(span);
  }
}
