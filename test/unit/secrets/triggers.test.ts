import t from 'tap';
import { redactorWith } from '../../../lib/secrets/redact/redactor.ts';
import { TRIGGERS, type Trigger, TriggerSearch } from '../../../lib/secrets/redact/triggers.ts';
import { USER_INFO } from '../../../lib/secrets/redact/user-info.ts';
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

/** Whether the line still contains the secret if only some triggers are active. */
async function survives(line: string, triggers: readonly Trigger[]): Promise<boolean> {
  const marks = { of: () => '<redacted>' };
  const { text } = redactorWith(marks, [], new TriggerSearch(triggers));
  const output = (await redacted(text, Buffer.from(line))).toString();
  return FORMS.some((form) => output.includes(form));
}

t.test('the secret in every line is found', async (t) => {
  for (const line of LINES) {
    t.ok(await survives(line, []), `without triggers: ${line}`);
    t.notOk(await survives(line, TRIGGERS), line);
  }
});

t.test('places are found in any case, and in order', async (t) => {
  const rule = (name: string) => ({ triggers: [], find: new RegExp(name) });
  const [word, end, first, second] = [rule('word'), rule('end'), rule('first'), rule('second')];
  const search = new TriggerSearch([
    { text: 'secret', rule: word },
    { text: 'Retina', rule: end },
    { text: 'word', rule: word },
    { text: '://', rule: first },
    { text: '://', rule: second },
  ]);
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
      '://secret ://',
      [
        [0, first, 3],
        [0, second, 3],
        [3, word, 6],
        [10, first, 3],
        [10, second, 3],
      ],
    ],
    [
      '%3D a%3Dsecret',
      [
        [0, 'percent', 1],
        [5, 'percent', 1],
        [8, word, 6],
      ],
    ],
    [
      'secret me:pass@host:80 secret',
      [
        [0, word, 6],
        [14, USER_INFO, 1],
        [23, word, 6],
      ],
    ],
  ];
  for (const [text, places] of rows) {
    const found = search.find(Buffer.from(text));
    t.strictSame(
      found.map(({ offset, rule, length }) => [offset, rule, length]),
      places,
      text,
    );
  }
});
