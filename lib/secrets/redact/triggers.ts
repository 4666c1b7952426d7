import { LiteralSearch, MIN_LITERAL } from '../bytes/literal-search.ts';
import { ASSIGNMENTS } from './assignments.ts';
import { ruleOf } from './pattern.ts';
import { PATTERNS } from './patterns.ts';
import { PEM } from './pem.ts';
import type { SecretRule } from './rule.ts';
import { SECRET_OBJECTS } from './secret-objects.ts';

export const RULES: readonly SecretRule[] = [
  PEM,
  SECRET_OBJECTS,
  ASSIGNMENTS,
  ...PATTERNS.map(ruleOf),
];

/** Where a trigger stands. */
export interface TriggerPlace {
  readonly offset: number;
  readonly rule: SecretRule;
  /** Of the trigger. */
  readonly length: number;
}

/** More than there are triggers: a place is one number, made of its offset and its trigger. */
const TRIGGERS = 2 ** 12;

/** Finds the triggers of rules in text, in any case. */
export class TriggerSearch {
  readonly #triggers: readonly Omit<TriggerPlace, 'offset'>[];
  /** Finds the first ones. */
  readonly #search: LiteralSearch;
  /** Those that are too short for it: rare ones without letters. */
  readonly #short: readonly (readonly [trigger: number, text: string])[];

  constructor(rules: readonly SecretRule[] = RULES) {
    const all = rules.flatMap((rule) => rule.triggers.map((text) => ({ rule, text })));
    const long = all.filter(({ text }) => text.length >= MIN_LITERAL);
    const short = all.filter(({ text }) => text.length < MIN_LITERAL);
    this.#triggers = [...long, ...short].map(({ rule, text: { length } }) => ({ rule, length }));
    this.#search = new LiteralSearch(
      long.map(({ text }) => Buffer.from(text, 'latin1')),
      { ignoreCase: true },
    );
    this.#short = short.map(({ text }, index) => [long.length + index, text]);
  }

  /** All places, in order. Hostile text has a million, which as objects take more memory than the thread has. */
  *find(bytes: Buffer): Generator<TriggerPlace> {
    const keys: number[] = [];
    const add = (offset: number, trigger: number) => keys.push(offset * TRIGGERS + trigger);
    this.#search.search(bytes, {
      isWanted: () => true,
      found: ({ offset, literal }) => add(offset, literal),
      isSpent: () => false,
    });
    for (const [trigger, text] of this.#short) {
      for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text, at + 1))
        add(at, trigger);
    }
    for (const key of Float64Array.from(keys).sort()) {
      const trigger = this.#triggers[key % TRIGGERS];
      if (trigger !== undefined) yield { ...trigger, offset: Math.floor(key / TRIGGERS) };
    }
  }
}
