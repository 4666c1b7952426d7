import t from 'tap';
import type { Verdict } from '../../mutation/judge-group.ts';
import { mutated, nameOf } from '../../mutation/mutant.ts';
import { mutantsOf } from '../../mutation/mutate.ts';
import { sample } from '../../mutation/sample.ts';
import { scoreOf } from '../../mutation/score.ts';

const mutants = (text: string, file = 'lib/a.ts') =>
  mutantsOf(file, text).map((mutant) => `${mutant.operator}: ${mutated(text, mutant)}`);

t.test('each operator changes one place of a program', async (t) => {
  const cases: [text: string, expected: string[]][] = [
    ['if (a) b();', ['condition: if (!(a)) b();', 'statement: if (a) {}']],
    ['x = a === b;', ['statement: {}', 'comparison: x = a !== b;']],
    ['x = a < b;', ['statement: {}', 'comparison: x = a <= b;', 'comparison: x = a >= b;']],
    ['const x = a && b;', ['logical: const x = (a);', 'logical: const x = (b);']],
    ['const x = true;', ['boolean: const x = false;']],
    ['const x = 3;', ['number: const x = 4;', 'boundary: const x = 2;']],
    ['const x = 60;', ['number: const x = 90;', 'boundary: const x = 59;']],
    ['const x = 0;', ['number: const x = 1;']],
    ['const x = JSON.stringify(y, null, 2);', []],
    [
      'await a(); await b(); c();',
      [
        'statement: {} await b(); c();',
        'statement: await a(); {} c();',
        'statement: await a(); await b(); {}',
        'order: await b(); await a(); c();',
        'await: void (a()).catch(() => undefined); await b(); c();',
        'await: await a(); void (b()).catch(() => undefined); c();',
      ],
    ],
    [
      'if (a) await b();',
      [
        'condition: if (!(a)) await b();',
        'statement: if (a) {}',
        'await: if (a) void (b()).catch(() => undefined);',
      ],
    ],
    ['const x = 0o600;', ['number: const x = 0o644;']],
    ["const x = 'a';", ["string: const x = 'mutated';"]],
    ["const x = 'two words';", []],
    ['const x = [a, b];', ['element: const x = [b];', 'element: const x = [a];']],
    [
      'const x = {a: f(), b: 1};',
      [
        'property: const x = {b: 1};',
        'number: const x = {a: f(), b: 2};',
        'boundary: const x = {a: f(), b: 0};',
      ],
    ],
    ['const f = (a) => a.b;', ['result: const f = (a) => undefined;']],
    [
      'const f = () => a > b;',
      [
        'result: const f = () => true;',
        'result: const f = () => false;',
        'comparison: const f = () => a >= b;',
        'comparison: const f = () => a <= b;',
      ],
    ],
    ['const x = a.filter(f);', ['method: const x = a;']],
    ['const x = a.some(f);', ['method: const x = a.every(f);']],
    ["import a from 'b';\ntype T = 'c';\nlet d: 'e' | 1;", []],
  ];
  for (const [text, expected] of cases) t.strictSame(mutants(text).sort(), expected.sort(), text);
});

t.test('a unit file loses one line at a time', async (t) => {
  const text = '# why\n[Unit]\nAfter=a\n\n[Service]\nType=notify\n';
  t.strictSame(mutants(text, 'units/a.service'), [
    'line: # why\n[Unit]\n\n[Service]\nType=notify\n',
    'line: # why\n[Unit]\nAfter=a\n\n[Service]\n',
  ]);
});

t.test('a name stays valid when lines move', async (t) => {
  const text = 'f(\n  a,\n);\n';
  const [mutant] = mutantsOf('lib/a.ts', text);
  const [moved] = mutantsOf('lib/a.ts', `// more\n${text}`);
  if (mutant === undefined || moved === undefined) throw new Error('no mutant');
  t.strictSame(nameOf(text, mutant), {
    file: 'lib/a.ts',
    operator: 'statement',
    before: 'f( a, );',
    after: '{}',
  });
  t.strictSame(nameOf(`// more\n${text}`, moved), nameOf(text, mutant));
});

t.test('a sample is the same for the same seed, in its order', async (t) => {
  const items = Array.from({ length: 100 }, (_, index) => index);
  const chosen = sample(items, 10, 'seed', String);
  t.equal(chosen.length, 10);
  t.strictSame(
    chosen,
    chosen.toSorted((a, b) => a - b),
  );
  t.strictSame(sample(items, 10, 'seed', String), chosen);
  t.strictNotSame(sample(items, 10, 'other', String), chosen);
  t.strictSame(sample(items, Number.POSITIVE_INFINITY, 'seed', String), items);
});

t.test('a group passes from 95 %, not counting mutants explained in survivors.json', async (t) => {
  const name = (after: string) => ({ file: 'lib/a.ts', operator: 'number', before: 'x', after });
  const verdict = (after: string, fate: Verdict['fate']) => ({
    ...name(after),
    line: 1,
    fate,
  });
  const killed = Array.from({ length: 19 }, (_, index) => verdict(`k${index}`, 'killed'));
  const verdicts = [...killed, verdict('s', 'survived')];
  const result = { group: 'g', names: verdicts, verdicts, broken: [] };
  const survivor = (after: string) => ({ ...name(after), reason: 'it changes nothing' });
  const judge = (more: object, ...survivors: string[]) =>
    scoreOf({ ...result, ...more }, survivors.map(survivor), () => true);
  t.match(judge({}), { score: 0.95, faults: [], explained: 0 });
  t.match(judge({ verdicts: [...verdicts.slice(1)] }).faults, [/94\.7 % noticed/]);
  t.match(judge({ verdicts: [...verdicts, verdict('u', 'uncovered')] }).faults, [/below 95/]);
  const refused = [...verdicts, verdict('i', 'invalid')];
  t.match(judge({ verdicts: refused }), { score: 0.95, faults: [], invalid: 1 });
  t.match(judge({}, 's'), { score: 1, faults: [], explained: 1 });
  t.match(judge({}, 's', 'gone').faults, [/no such mutant in lib\/a\.ts/]);
  t.match(judge({}, 's', 'k3').faults, [/noticed now/]);
  t.match(judge({ broken: [{ file: 'a.test.ts', output: 'failed' }] }).faults, [
    /a\.test\.ts without/,
  ]);
});
