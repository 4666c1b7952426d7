import { LiteralSearch, MIN_LITERAL } from '../bytes/literal-search.ts';
import type { LineRule } from './line-rule.ts';
import { LINE_RULES } from './line-rules.ts';
import type { Pattern } from './pattern.ts';
import { PATTERNS } from './patterns.ts';
import { PEM_TRIGGERS } from './pem.ts';
import { percentSigns } from './percent.ts';
import { SECRET_TRIGGERS } from './secret-blocks.ts';
import { USER_INFO, userInfoSigns } from './user-info.ts';

/** What is looked for where a trigger stands. */
export type Rule = 'pem' | 'secret' | 'percent' | Pattern | LineRule;

/** Where a trigger stands. */
export interface Place {
  readonly offset: number;
  readonly rule: Rule;
  /** Of the trigger. */
  readonly length: number;
}

/** By what a rule is called for: texts that stand where it may find something, in any case. */
export interface Trigger {
  readonly text: string;
  readonly rule: Rule;
}

const of = (texts: readonly string[], rule: Rule): Trigger[] =>
  texts.map((text) => ({ text, rule }));

export const TRIGGERS: readonly Trigger[] = [
  ...of(PEM_TRIGGERS, 'pem'),
  ...of(SECRET_TRIGGERS, 'secret'),
  ...LINE_RULES.flatMap((rule) => of(rule.triggers, rule)),
  ...PATTERNS.flatMap((pattern) => of(pattern.triggers, pattern)),
];

/** Finds the triggers of all rules in text, in any case. */
export class TriggerSearch {
  readonly #searched: readonly Trigger[];
  readonly #search: LiteralSearch;
  /** Too short for that search. None of them has letters. */
  readonly #short: ReadonlyMap<string, readonly Trigger[]>;

  constructor(triggers: readonly Trigger[] = TRIGGERS) {
    this.#searched = triggers.filter(({ text }) => text.length >= MIN_LITERAL);
    this.#search = new LiteralSearch(
      this.#searched.map(({ text }) => Buffer.from(text, 'latin1')),
      { ignoreCase: true },
    );
    this.#short = Map.groupBy(
      triggers.filter(({ text }) => text.length < MIN_LITERAL),
      ({ text }) => text,
    );
  }

  /** All places, in order. */
  find(bytes: Buffer): Place[] {
    const places: Place[] = [];
    for (const { offset, literal } of this.#search.find(bytes)) {
      const trigger = this.#searched[literal];
      if (trigger !== undefined) {
        places.push({ offset, rule: trigger.rule, length: trigger.text.length });
      }
    }
    const count = places.length;
    for (const [text, triggers] of this.#short) {
      for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text, at + 1)) {
        for (const { rule } of triggers) places.push({ offset: at, rule, length: text.length });
      }
    }
    for (const offset of percentSigns(bytes)) places.push({ offset, rule: 'percent', length: 1 });
    for (const offset of userInfoSigns(bytes)) {
      places.push({ offset, rule: USER_INFO, length: 1 });
    }
    return places.length === count ? places : places.sort((a, b) => a.offset - b.offset);
  }
}
