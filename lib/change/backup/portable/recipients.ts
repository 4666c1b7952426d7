import { Decrypter, Encrypter } from 'age-encryption';
import { Failure } from '../../../base/errors/failure.ts';

/**
 * An encrypter for age's recipients (https://age-encryption.org/v1): `age1...`, or `age1pq1...`, which
 * quantum computers do not break.
 *
 * @throws Failure (usage) that names the recipient that is not one.
 */
export function encrypterFor(recipients: readonly string[]): Encrypter {
  const encrypter = new Encrypter();
  for (const recipient of recipients) {
    try {
      encrypter.addRecipient(recipient);
    } catch (cause) {
      throw new Failure('usage', `--recipient ${recipient} is not a recipient of age`, {
        expected: 'the public key that age-keygen prints, such as age1ql3z…',
        found: cause instanceof Error ? cause.message : String(cause),
      });
    }
  }
  return encrypter;
}

/** The recipients of a setting, which is one word: they are separated by commas alone. */
export const recipientsIn = (setting: string): string[] =>
  setting.split(',').filter((recipient) => recipient !== '');

/**
 * A decrypter for the identities in the text of a key file, as age-keygen writes it: one in a line,
 * comments with #. The text is in no error.
 *
 * @throws Failure (usage) with the number of the line that is no identity.
 */
export function decrypterFor(text: string, path: string): Decrypter {
  const decrypter = new Decrypter();
  let count = 0;
  for (const [at, line] of text.split(/\r?\n/).entries()) {
    const identity = line.trim();
    if (identity === '' || identity.startsWith('#')) continue;
    try {
      decrypter.addIdentity(identity);
      count += 1;
    } catch {
      throw notIdentity(`line ${at + 1} of ${path} is not an identity of age`);
    }
  }
  if (count === 0) throw notIdentity(`${path} has no identity of age`);
  return decrypter;
}

const notIdentity = (what: string) =>
  new Failure('usage', what, {
    expected: 'the file that age-keygen wrote, with a line AGE-SECRET-KEY-1…',
  });
