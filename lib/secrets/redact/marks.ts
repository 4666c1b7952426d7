import { hash } from 'node:crypto';

/** `certain`: a secret by its name or its shape. `possible`: a value of a Secret, which can be a user's name as well. */
export type Certainty = 'certain' | 'possible';

/** What stands in a secret's place. */
export interface Marks {
  of(secret: string, certainty?: Certainty): string;
}

const DIGITS = 8;
/** Logs repeat the same few secrets: their marks are not made each time. */
const MAX_REMEMBERED = 1000;
const MAX_REMEMBERED_LENGTH = 256;

/**
 * Marks that are equal for equal secrets of one bundle, so that "the same token in both
 * places" can still be seen. The key is made for one bundle and thrown away with the
 * process: without it a guessed password cannot be checked against its mark.
 */
export function marksWith(key: Uint8Array): Marks {
  const remembered = new Map<string, string>();
  return {
    of: (secret) => {
      const before = remembered.get(secret);
      if (before !== undefined) return before;
      const digest = hash('sha256', Buffer.concat([key, Buffer.from(secret, 'utf8')]), 'hex');
      const mark = `<redacted:${digest.slice(0, DIGITS)}>`;
      if (secret.length <= MAX_REMEMBERED_LENGTH) {
        if (remembered.size >= MAX_REMEMBERED) remembered.clear();
        remembered.set(secret, mark);
      }
      return mark;
    },
  };
}
