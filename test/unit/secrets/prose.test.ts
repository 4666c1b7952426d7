import t from 'tap';
import { isProse } from '../../../lib/secrets/redact/prose.ts';

t.test('whether a value is the first word of a sentence', async (t) => {
  // The value is between brackets.
  const rows: readonly (readonly [line: string, expected: boolean])[] = [
    ['password: [must be long]', true],
    ['password: [must] be long', true],
    ['password: [Must] be long', true],
    ['password: [AUTHENTICATION] failed', true],
    ['password: [must]', false],
    ['password: [must], be', false],
    ['password: [must]\tbe', false],
    ['password: [must\tbe]', true],
    ['password: [mustard] is', false],
    ['password: [must-be] long', false],
    ['password: [must1] be', false],
    ['password: [a] b', true],
    ['password: [authenticationfailed] b', false],
    ['password: [] must be', false],
    ['password: [hunter must] be', false],
  ];
  for (const [marked, expected] of rows) {
    const start = marked.indexOf('[');
    const end = marked.indexOf(']') - 1;
    t.equal(isProse(marked.replace(/[[\]]/g, ''), { start, end }), expected, marked);
  }
});
