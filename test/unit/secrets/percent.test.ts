import t from 'tap';
import { PERCENT } from '../../../lib/secrets/redact/percent.ts';

/** The word at the first percent sign of a line as it is decoded, and where it ends. */
function decodedAt(line: string) {
  const seen: string[] = [];
  const found = PERCENT.inLine?.(line, line.indexOf('%'), (text) => {
    seen.push(text);
    return { text: 'safe', mark: '#' };
  });
  return { seen, ...found };
}

t.test('a percent-encoded word that holds a document is decoded', (t) => {
  const rows: [line: string, word: string, decoded: string][] = [
    ['a=%7B%22b%22%3Apassword d', '%7B%22b%22%3Apassword', '{"b":password'],
    ['"%2f%C3%A9%5a%7Fpassword"', '%2f%C3%A9%5a%7Fpassword', '/\xc3\xa9Z\x7fpassword'],
    ['x %2541password%3Dab y', '%2541password%3Dab', '%41password=ab'],
    ['(%3d%4,password%0Aabcd%)', '', ''],
    ['%3A%4password-abcd%%41', '%3A%4password-abcd%%41', ':%4password-abcd%A'],
  ];
  for (const [line, word, decoded] of rows) {
    const { seen, secrets } = decodedAt(line);
    t.strictSame(seen, word === '' ? [] : [decoded], line);
    t.strictSame(
      secrets?.map(({ start, end }) => line.slice(start, end)),
      word === '' ? [] : [word],
    );
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
    t.strictSame(decodedAt(line).seen, [], line);
  }
  t.end();
});

t.test('a file in a URL is encoded again', (t) => {
  const line = '"data:,password%3Dhunter22%0A"';
  t.strictSame(decodedAt(line).secrets, [{ start: 7, end: 29, mark: 'safe' }]);
  t.end();
});
