/** JSON as people write it: what is wrong with it, and where; nothing of it is quoted. */
import t from 'tap';
import { jsonFault, tooManyLevels } from '../../../lib/base/json-fault.ts';

for (const [text, says] of [
  ['{}', undefined],
  ['[]', undefined],
  ['null', undefined],
  ['{"a":{"a":1},"b":[{"a":1},{"a":2}]}', undefined],
  ['', 'no JSON: no value at character 1'],
  ['{"a":1,}', 'no JSON: a name without quotes, or one too many comma at character 8'],
  ['{\n  "a": 1\n  "b": 2\n}', 'no JSON: a missing comma at character 3 of line 3'],
  ['{"mode": 0644}', 'no JSON: a number with a leading zero at character 10'],
  ['{"a": 1,\n"b":-007}', 'no JSON: a number with a leading zero at character 5 of line 2'],
  ['00', 'no JSON: a number with a leading zero at character 1'],
  ['[10 1]', 'no JSON: a missing comma at character 5'],
  ['[0 1]', 'no JSON: a missing comma at character 4'],
  ['[0,-0,0.5,1e05]', undefined],
  ['\uFEFF{}', 'no JSON: a byte order mark at character 1'],
  ['a: 1', 'no JSON: no value of JSON at character 1'],
  ['{"a":1,"b":2,"a":3}', 'the same name twice at character 14: the first would not count'],
  [
    '{"a":[{"b":{\n"c":1, "c":1}}]}',
    'the same name twice at character 8 of line 2: the first would not count',
  ],
  // One name, however it is written.
  ['{"a":1,"\\u0061":2}', 'the same name twice at character 8: the first would not count'],
  // Not as deep as V8 reads it.
  [`${'['.repeat(100_000)}${']'.repeat(100_000)}`, 'more levels than can be read'],
  ['['.repeat(100_000), 'no JSON: more levels than can be read'],
] as const) {
  t.equal(jsonFault(text), says, text.slice(0, 100));
}

t.test('as many levels as whatever walks through them can bear', async (t) => {
  const nested = (levels: number): unknown =>
    JSON.parse(`${'{"a":['.repeat(levels / 2)}${']}'.repeat(levels / 2)}`);
  t.equal(tooManyLevels(nested(200)), undefined);
  for (const levels of [202, 200_000]) {
    t.equal(tooManyLevels(nested(levels)), 'more levels than can be read', `${levels}`);
  }
  t.equal(tooManyLevels(undefined), undefined);
});
