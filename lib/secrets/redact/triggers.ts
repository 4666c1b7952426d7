import { LiteralSearch, MIN_LITERAL } from '../bytes/literal-search.ts';
import { LINE_RULES } from './line-rules.ts';
import { PATTERNS } from './patterns.ts';
import { PEM_TRIGGERS } from './pem.ts';
import { percentSigns } from './percent.ts';
import { type PlacedTrigger, Places, type TriggerRule } from './places.ts';
import { SECRET_TRIGGERS } from './secret-blocks.ts';
import { USER_INFO, userInfoSigns } from './user-info.ts';

/** What calls for a rule: texts that occur wherever it may find something, in upper or lower case. */
export interface Trigger {
  readonly text: string;
  readonly rule: TriggerRule;
}

const of = (texts: readonly string[], rule: TriggerRule): Trigger[] =>
  texts.map((text) => ({ text, rule }));

export const TRIGGERS: readonly Trigger[] = [
  ...of(PEM_TRIGGERS, 'pem'),
  ...of(SECRET_TRIGGERS, 'secret'),
  ...LINE_RULES.flatMap((rule) => of(rule.triggers, rule)),
  ...PATTERNS.flatMap((pattern) => of(pattern.triggers, pattern)),
];

/** Finds the triggers of all rules in text, in any case. */
export class TriggerSearch {
  readonly #search: LiteralSearch;
  /** That search finds the first ones. The others are too short for it, and have no letters. */
  readonly #triggers: readonly PlacedTrigger[];
  /** Text, and index in that list. */
  readonly #short: readonly (readonly [text: string, trigger: number])[];
  readonly #percent: number;
  readonly #userInfo: number;

  constructor(triggers: readonly Trigger[] = TRIGGERS) {
    const searched = triggers.filter(({ text }) => text.length >= MIN_LITERAL);
    this.#search = new LiteralSearch(
      searched.map(({ text }) => Buffer.from(text, 'latin1')),
      { ignoreCase: true },
    );
    const short = triggers.filter(({ text }) => text.length < MIN_LITERAL);
    // By text, in the order in which each of them first stands in the table.
    const grouped = [...Map.groupBy(short, ({ text }) => text).values()].flat();
    this.#short = grouped.map(({ text }, index) => [text, searched.length + index]);
    const placed = [...searched, ...grouped].map(({ text, rule }) => ({
      rule,
      length: text.length,
    }));
    this.#percent = placed.length;
    this.#userInfo = placed.length + 1;
    this.#triggers = [...placed, { rule: 'percent', length: 1 }, { rule: USER_INFO, length: 1 }];
  }

  /** All places, in order. */
  find(bytes: Buffer): Places {
    const places = new Places(this.#triggers);
    this.#search.search(bytes, {
      isWanted: () => true,
      found: ({ offset, literal }) => places.add(offset, literal),
      isSpent: () => false,
    });
    for (const [text, trigger] of this.#short) {
      for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text, at + 1)) {
        places.add(at, trigger);
      }
    }
    for (const offset of percentSigns(bytes)) places.add(offset, this.#percent);
    for (const offset of userInfoSigns(bytes)) places.add(offset, this.#userInfo);
    return places;
  }
}
