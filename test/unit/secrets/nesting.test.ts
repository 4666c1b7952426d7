import t from 'tap';
import { isDeep, shallowJson } from '../../../lib/secrets/redact/nesting.ts';

const lists = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
const objects = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;

t.test('a text is deep if more than 100 brackets are open at once', async (t) => {
  const table: [text: string, expected: boolean][] = [
    ['', false],
    ['words', false],
    [lists(100), false],
    [lists(101), true],
    [objects(100), false],
    [objects(101), true],
    ['['.repeat(101), true],
    [`${objects(50)}${lists(100)}`, false],
    [`[${lists(50)}${lists(99)}]`, false],
    [`[${lists(50)}${lists(100)}]`, true],
    [`{${objects(50)}${objects(100)}`, true],
    ['[]{}'.repeat(200), false],
    // Closing brackets without an opening one do not count against those that follow.
    [`${']}'.repeat(50)}${lists(100)}`, false],
    [`${']}'.repeat(50)}${lists(101)}`, true],
    [`]${lists(101)}`, true],
    [`${'[]]'.repeat(10)}${lists(101)}`, true],
    [`"${'['.repeat(101)}"`, true],
  ];
  for (const [text, expected] of table) t.equal(isDeep(text), expected, text.slice(0, 60));
});

t.test('JSON is read unless it is deep', async (t) => {
  t.strictSame(shallowJson('{"a":[1]}'), { a: [1] });
  t.strictSame(shallowJson(objects(100)), JSON.parse(objects(100)));
  t.equal(shallowJson(objects(101)), undefined);
  t.equal(shallowJson('{"a":'), undefined);
});
