import t from 'tap';
import { yamlWith } from '../../../lib/secrets/redact/yaml.ts';

/** Replaces each text that is a key of `by`, at any depth. */
function replacing(by: Readonly<Record<string, unknown>>): (value: unknown) => unknown {
  const visit = (each: unknown): unknown => {
    if (typeof each === 'string') return Object.hasOwn(by, each) ? by[each] : each;
    if (Array.isArray(each)) return each.map(visit);
    if (typeof each !== 'object' || each === null) return each;
    return Object.fromEntries(Object.entries(each).map(([key, item]) => [key, visit(item)]));
  };
  return visit;
}

t.test('changed values are written in their places', async (t) => {
  const table: [text: string, by: Record<string, unknown>, expected: string | undefined][] = [
    ['a: old # b\n', { old: 'new' }, 'a: "new" # b\n'],
    ["a: 'old'\nb: [x, old, 0x10]\n", { old: 'new' }, 'a: "new"\nb: [x, "new", 0x10]\n'],
    ['- {a: old, b: c}\n- old\n', { old: 1 }, '- {a: 1, b: c}\n- 1\n'],
    ['old\n', { old: null }, 'null\n'],
    ['a: old\n---\nb: old\n...\n', { old: 'x' }, 'a: "x"\n---\nb: "x"\n...\n'],
    ['1: old\ntrue: old\n', { old: 'x' }, '1: "x"\ntrue: "x"\n'],
    ['a: b\n', { old: 'x' }, 'a: b\n'],
    ['', {}, ''],
    ['# nothing\n', {}, '# nothing\n'],
    // A block stays one if it has several lines.
    ['a: |\n  old\n  b\nc: d\n', { 'old\nb\n': 'x\n\n y\n' }, 'a: |\n  x\n\n   y\nc: d\n'],
    ['a: |-\n    old\n\nc: d\n', { old: 'x\ny\n\n' }, 'a: |-\n    x\n    y\n\nc: d\n'],
    ['a: | # b\n\n  old\n', { '\nold\n': 'x\ny' }, 'a: | # b\n  x\n  y\n'],
    ['a: |\n  old\nc: d\n', { 'old\n': 'new' }, 'a: "new"\nc: d\n'],
    ['a: |\n  old\nc: d\n', { 'old\n': 12 }, 'a: 12\nc: d\n'],
    ['a: >\n  old\nc: d\n', { 'old\n': 'x\ny\n' }, 'a: "x\\ny\\n"\nc: d\n'],
    ['a: "old"\nc: d\n', { old: 'x\ny' }, 'a: "x\\ny"\nc: d\n'],
    // A key that is a list has no name, whatever else is called so.
    ['? [a]\n: b\nundefined: old\n', { old: 'x' }, '? [a]\n: b\nundefined: "x"\n'],
    // Not YAML.
    ['a: [\n', {}, undefined],
    ['a: old\n---\nb: [\n', { old: 'x' }, undefined],
    ['a: *b\n', {}, undefined],
    ['a: 1\na: 2\n', {}, 'a: 1\na: 2\n'],
  ];
  for (const [text, by, expected] of table) {
    t.equal(yamlWith(text, replacing(by)), expected, JSON.stringify(text));
  }
});

t.test('at most 100 aliases', async (t) => {
  const read = (line: string, count: number) => {
    const text = `old: &a 1\nb: |\n${`  ${line}\n`.repeat(count)}c: old\n`;
    const result = yamlWith(text, replacing({ old: 'new' }));
    return result === text.replace(/old$/m, '"new"') ? 'changed' : result;
  };
  for (const alias of ['- *a', 'x: *a', '[*a]', '{b,*a}', '*a', '-*a', ':*a', '{*a.b}']) {
    t.equal(read(alias, 100), 'changed', alias);
    t.equal(read(alias, 101), undefined, alias);
  }
  for (const other of ['x*y', '* a', '*,', '*"', '**', "*'", '*]', '*{', '*[', '*}', '*']) {
    t.equal(read(other, 101), 'changed', other);
  }
});
