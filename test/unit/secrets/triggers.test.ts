import t from 'tap';
import { redactorWith } from '../../../lib/secrets/redact/redactor.ts';
import type { SecretRule } from '../../../lib/secrets/redact/rule.ts';
import { RULES, TriggerSearch } from '../../../lib/secrets/redact/triggers.ts';
import { redacted } from './streams.ts';
import { LINES as GENERAL_LINES, hex, SECRET } from './trigger-lines.ts';
import { FILE_LINES } from './trigger-lines-of-files.ts';

const LINES = [...GENERAL_LINES, ...FILE_LINES];

// A lot of work, possibly on a busy machine.

/** Nor these, which have a form of their own. */
const OTHERS = ['0123456789abcdef', 'd3E4f-G5h6I', 'correcthorse', 'cbdefghi'];
const FORMS = [SECRET, SECRET.toUpperCase(), hex(SECRET), ...OTHERS].concat(
  Buffer.from(`me:${SECRET}`).toString('base64'),
);

/** Whether the line still contains the secret if only some rules are active. */
async function survives(line: string, rules: readonly SecretRule[]): Promise<boolean> {
  const marks = { of: () => '<redacted>' };
  const { text } = redactorWith(marks, [], new TriggerSearch(rules));
  const output = (await redacted(text, Buffer.from(line))).toString();
  return FORMS.some((form) => output.includes(form));
}

t.test('the secret in every line is found', async (t) => {
  for (const line of LINES) {
    t.ok(await survives(line, []), `without rules: ${line}`);
    t.notOk(await survives(line, RULES), line);
  }
});

t.test('places are found in any case, and in order', async (t) => {
  const rule = (...triggers: string[]): SecretRule => ({ triggers });
  const [word, end, first, second] = [
    rule('secret', 'word'),
    rule('Retina'),
    rule('://', '%'),
    rule('://'),
  ];
  const search = new TriggerSearch([word, end, first, second]);
  const rows: readonly (readonly [text: string, places: readonly (readonly unknown[])[]])[] = [
    ['', []],
    ['passes and secre', []],
    ['Words', [[0, word, 4]]],
    ['secret', [[0, word, 6]]],
    [
      'a SECRETina secret',
      [
        [2, word, 6],
        [5, end, 6],
        [12, word, 6],
      ],
    ],
    [
      '://secret ://%',
      [
        [0, first, 3],
        [0, second, 3],
        [3, word, 6],
        [10, first, 3],
        [10, second, 3],
        [13, first, 1],
      ],
    ],
  ];
  for (const [text, places] of rows) {
    const found = [...search.find(Buffer.from(text))];
    t.strictSame(
      found.map(({ offset, rule, length }) => [offset, rule, length]),
      places,
      text,
    );
  }
  t.equal([...search.find(Buffer.from('word '.repeat(1000)))].length, 1000);
});
