import type { LineRule, UnwrappedRule } from './line-rule.ts';
import type { Pattern } from './pattern.ts';

/** What is looked for where a trigger stands. */
export type TriggerRule = 'pem' | 'secret' | 'percent' | Pattern | LineRule | UnwrappedRule;

/** Where a trigger stands. */
export interface TriggerPlace {
  readonly offset: number;
  readonly rule: TriggerRule;
  /** Of the trigger. */
  readonly length: number;
}

/** What a place has besides its offset. */
export type PlacedTrigger = Omit<TriggerPlace, 'offset'>;

/** Places of one offset keep their order: their number is the lower part of a key, below 2^53 in all. */
const PLACES = 2 ** 30;
/** Of most texts that are decoded, none has any. */
const FIRST = 64;

/**
 * Where triggers stand. Hostile text has a million of them, which as objects take more memory than the thread that
 * redacts has: they are kept as numbers, and made when they are asked for.
 */
export class Places implements Iterable<TriggerPlace> {
  readonly #triggers: readonly PlacedTrigger[];
  /** The offset and the number of each place. */
  #keys = new Float64Array(0);
  /** By number: the index of its trigger. */
  #triggerOf = new Uint16Array(0);
  #count = 0;
  #isSorted = true;

  constructor(triggers: readonly PlacedTrigger[]) {
    this.#triggers = triggers;
  }

  add(offset: number, trigger: number): void {
    if (this.#count === this.#keys.length) this.#grow();
    this.#keys[this.#count] = offset * PLACES + this.#count;
    this.#triggerOf[this.#count] = trigger;
    this.#count += 1;
    this.#isSorted = false;
  }

  /** In order; those of one offset in the order in which they were added. */
  *[Symbol.iterator](): Generator<TriggerPlace> {
    for (let index = 0; index < this.#count; index++) {
      const [offset, trigger] = this.#at(index);
      if (trigger !== undefined) yield { ...trigger, offset };
    }
  }

  map<T>(of: (place: TriggerPlace) => T): T[] {
    return Array.from(this, of);
  }

  /** Where a rule has its triggers, in order. */
  offsetsOf(rule: TriggerRule): number[] {
    const offsets: number[] = [];
    for (let index = 0; index < this.#count; index++) {
      const [offset, trigger] = this.#at(index);
      if (trigger?.rule === rule) offsets.push(offset);
    }
    return offsets;
  }

  #at(index: number): [offset: number, trigger: PlacedTrigger | undefined] {
    if (!this.#isSorted) this.#keys.subarray(0, this.#count).sort();
    this.#isSorted = true;
    const key = this.#keys[index] ?? 0;
    return [Math.floor(key / PLACES), this.#triggers[this.#triggerOf[key % PLACES] ?? 0]];
  }

  #grow(): void {
    const [keys, triggerOf] = [this.#keys, this.#triggerOf];
    this.#keys = new Float64Array(Math.max(FIRST, 2 * keys.length));
    this.#keys.set(keys);
    this.#triggerOf = new Uint16Array(this.#keys.length);
    this.#triggerOf.set(triggerOf);
  }
}
