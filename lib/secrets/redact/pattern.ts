import type { RuleFindings, Secret, SecretRule } from './rule.ts';

/**
 * One shape in which a secret occurs in a line, whatever its name is. Every occurrence contains one of
 * `triggers`, in upper or lower case, and is searched for only there. Each trigger has at least two characters.
 * One with fewer than four is searched for alone, by its first character, which must be rare and not a blank.
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

/** Longer than what a pattern is usually found in. */
const LONG = 4096;
/** Read beyond the place in which a pattern must begin. */
const MAX_MATCH = 1024;

/** Finds what a pattern describes at its triggers, or around them. */
export const ruleOf = (pattern: Pattern): SecretRule => ({
  triggers: pattern.triggers,
  inLine: (line, at) => matches(line, at, pattern),
});

function matches(line: string, at: number, pattern: Pattern): RuleFindings {
  const { find, around } = pattern;
  if (around === undefined) {
    find.lastIndex = at;
    const match = find.exec(line);
    const length = match?.[0].length ?? 0;
    // What begins in a long match is a part of it: each would be read to the same end.
    return { next: length > LONG ? at + length : at, secrets: secretIn(match, 0, pattern) };
  }
  const start = Math.max(0, at - around.before);
  const until = at + around.after;
  const text = line.slice(start, until + MAX_MATCH);
  const secrets = [...text.matchAll(find)]
    .filter(({ index }) => start + index < until)
    .flatMap((match) => secretIn(match, start, pattern));
  // A trigger that is skipped has as much looked at after it as before the next that is not.
  return { next: Math.min(at + Math.ceil(around.after / 2), line.length), secrets };
}

/** `base`: where in the line the text begins in which the pattern matched. */
function secretIn(match: RegExpExecArray | null, base: number, { isSecret }: Pattern): Secret[] {
  const [start, end] = match?.indices?.groups?.secret ?? [];
  if (match === null || start === undefined || end === undefined) return [];
  const secret = match.input.slice(start, end);
  return isSecret?.(secret, match[0]) === false ? [] : [{ start: base + start, end: base + end }];
}
