import t from 'tap';
import { Budget } from '../../../lib/secrets/bytes/budget.ts';
import { percentTexts } from '../../../lib/secrets/redact/percent.ts';
import { STREAM_LIMITS } from '../../../lib/secrets/redact/text.ts';

/** The words of a line that are decoded, and what they are. */
function decodedIn(line: string) {
  const bytes = Buffer.from(line);
  return [...percentTexts(bytes)].map(({ runs, meanings, inFile }) => {
    const [document] = meanings(new Budget(STREAM_LIMITS));
    const word = runs.map(({ start, end }) => bytes.toString('utf8', start, end)).join();
    return [word, document?.toString('latin1'), inFile?.(Buffer.from('é %'))];
  });
}

t.test('a percent-encoded word that holds a document is decoded', (t) => {
  const rows: [line: string, word: string, decoded: string][] = [
    ['a=%7B%22b%22%3Apassword d', '%7B%22b%22%3Apassword', '{"b":password'],
    ['"%2f%C3%A9%5a%7Fpassword"', '%2f%C3%A9%5a%7Fpassword', '/\xc3\xa9Z\x7fpassword'],
    ['x %2541password%3Dab y', '%2541password%3Dab', '%41password=ab'],
    ['%3A%4password-abcd%%41', '%3A%4password-abcd%%41', ':%4password-abcd%A'],
    ['a%3Ab %3Aand-words-and-words', '%3Aand-words-and-words', ':and-words-and-words'],
  ];
  for (const [line, word, decoded] of rows) {
    t.strictSame(decodedIn(line), [[word, decoded, undefined]], line);
  }
  t.end();
});

t.test('short words and other codes are not', (t) => {
  for (const line of [
    '100%',
    'a%3Ab',
    '%20and%20words%20and%20words',
    '%3xpassword-password',
    'a%',
  ]) {
    t.strictSame(decodedIn(line), [], line);
  }
  t.end();
});

t.test('a file in a URL is encoded again', (t) => {
  const word = 'password%3Dhunter22%0A';
  t.strictSame(decodedIn(`"data:,${word}"`), [[word, 'password=hunter22\n', '%C3%A9%20%25']]);
  t.end();
});

t.test('what the budget does not allow to look at is removed', (t) => {
  const [text] = percentTexts(Buffer.from('%3Aand-words-and-words'));
  const meanings = text?.meanings(new Budget({ ...STREAM_LIMITS, bytes: 9 }));
  t.strictSame(meanings, [Buffer.from(':and-words-and-words').toString('base64')]);
  t.end();
});
