import { hash } from 'node:crypto';

/**
 * `certain`: a secret by its name or its shape; `key`: a private key in base64; `possible`: a value of a Secret, which can
 * be a user's name as well; `document`: a text with secrets in it.
 */
export type Certainty = 'certain' | 'key' | 'possible' | 'document';

/** What stands in a secret's place. */
export interface Marks {
  of(secret: string, certainty?: Certainty): string;
}

const DIGITS = 8;

/**
 * Marks that are equal for equal secrets of one bundle, so that "the same token in both
 * places" can still be seen. The key is made for one bundle and thrown away with the
 * process: without it a guessed password cannot be checked against its mark.
 */
export function marksWith(key: Uint8Array): Marks {
  return {
    of: (secret) => {
      const digest = hash('sha256', Buffer.concat([key, Buffer.from(secret, 'utf8')]), 'hex');
      return `<redacted:${digest.slice(0, DIGITS)}>`;
    },
  };
}
