/**
 * One way in which a secret stands in a line whatever its name is. `triggers` are texts of which
 * one stands in it, in any case; it is looked for only there. Each has at least three characters.
 */
export interface Pattern {
  readonly triggers: readonly string[];
  /** Sticky, tried where the trigger begins; the group `secret` is what has to go. */
  readonly find: RegExp;
  /** Characters before and after the trigger in which `find`, which is global then, looks. */
  readonly around?: { readonly before: number; readonly after: number };
  /** Called when the shape alone does not decide; `whole`: all that matched. */
  readonly isSecret?: (secret: string, whole: string) => boolean;
}
