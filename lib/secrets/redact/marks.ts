import { isAscii } from 'node:buffer';
import { hash } from 'node:crypto';
import { Canonical } from './canonical.ts';
import type { Certainty } from './rule.ts';

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
  const canonical = new Canonical();
  return {
    of: (secret) => {
      const bytes = Buffer.from(secret, 'utf8');
      // The same for one that is quoted, and quoted again; of other characters nothing would be left.
      const meant = isAscii(bytes) ? canonical.of(bytes) : bytes;
      const digest = hash('sha256', Buffer.concat([key, meant]), 'hex');
      return `<redacted:${digest.slice(0, DIGITS)}>`;
    },
  };
}
