/** A template and a table of sites: what is filled in, and which tables are refused. */
import t from 'tap';
import { readTable } from '../../../cli/site/table.ts';
import { filledTemplate, placeholdersIn } from '../../../cli/site/template.ts';

/** `@{a}` stands for the placeholder, which the linter takes for a mistake. */
const own = (text: string) => text.replaceAll('@{', '${');
const fill = (template: string, cells: Record<string, string>) =>
  filledTemplate(own(template), cells);

t.test('a cell is one value, whatever is in it', async (t) => {
  const hostile = own('x", renameNode: true, "y: \\ @{b} #');
  for (const [template, expected] of [
    ['a: @{a}\nb: 1\n', `a: ${JSON.stringify(hostile)}\nb: 1\n`],
    ['a: "@{a}" # @{a}\n', `a: ${JSON.stringify(hostile)} # @{a}\n`],
    ["a: 'x-@{a}'\n", `a: ${JSON.stringify(`x-${hostile}`)}\n`],
    ['a: [1, "@{a}"]\n', `a: [1, ${JSON.stringify(hostile)}]\n`],
    ['@{a}: 1\n', '@{a}: 1\n'],
    ['a: |\n  x: @{a}\n', `a: |\n  x: ${hostile}\n`],
    ['a: @{c}\n', 'a: "@{c}"\n'],
  ] as const) {
    t.equal(fill(template, { a: hostile, b: 'never' }), own(expected));
  }
});

t.test('numbers, true and false, and nothing', async (t) => {
  const template = 'a: @{a}\nb: "@{a}"\nc: x@{a}\n';
  for (const [cell, expected] of [
    ['12', 'a: 12\nb: "12"\nc: "x12"\n'],
    ['0042', 'a: "0042"\nb: "0042"\nc: "x0042"\n'],
    ['true', 'a: true\nb: "true"\nc: "xtrue"\n'],
    ['yes', 'a: "yes"\nb: "yes"\nc: "xyes"\n'],
    ['null', 'a: "null"\nb: "null"\nc: "xnull"\n'],
    ['', 'a: \nb: ""\nc: "x"\n'],
    ['1e5', 'a: "1e5"\nb: "1e5"\nc: "x1e5"\n'],
  ] as const) {
    t.equal(fill(template, { a: cell }), expected);
  }
});

t.test('lines stay where they are', async (t) => {
  const template = 'a: 1\n\n# x\nb:\n    - @{a}\n    - {c: "@{b}"}\nd: 2\n';
  const filled = fill(template, { a: 'long '.repeat(50), b: 'y' });
  t.equal(filled.split('\n').length, template.split('\n').length);
  t.equal(filled.split('\n')[6], 'd: 2');
  t.same(placeholdersIn(own(template)), ['a', 'b']);
  t.same(placeholdersIn(own('a: $a @{1} @{} $(b)\n# @{c}\n@{d}: 1\n')), []);
});

t.test('a table', async (t) => {
  const { rows, faults } = readTable('\uFEFFsite,a\r\nx, 1 \r\n\r\n"y","a, ""b"""\r\n', ['a']);
  t.same(faults, []);
  t.same(rows, [
    { line: 2, cells: { site: 'x', a: '1' } },
    { line: 4, cells: { site: 'y', a: 'a, "b"' } },
  ]);
});

const BAD: readonly (readonly [name: string, text: string, faults: readonly RegExp[]])[] = [
  ['empty', '', [/expected a column site/, /expected a column a/, /found none/]],
  ['only a header', 'site,a\n', [/a row for each site, found none/]],
  ['without the column of a value', 'site,b\nx,1\n', [/expected a column a, found site, b/]],
  ['without sites', 'a\n1\n', [/expected a column site/, /line 2: site/]],
  ['a column twice', 'site,a,a\nx,1,2\n', [/column a: expected once/]],
  ['a column with spaces', 'site,a,b c\nx,1,2\n', [/column "b c"/]],
  ['a row that is too short', 'site,a\nx\n', [/in CSV, found: Invalid Record Length/]],
  ['a row that is too long', 'site,a\nx,1,2\n', [/Invalid Record Length/]],
  ['a quote that is not closed', 'site,a\n"x,1\n', [/Quote Not Closed/]],
  ['a site twice', 'site,a\nx,1\nX,2\n', [/line 3: site: "X" is there twice/]],
  ['a site that leads out', 'site,a\n../x,1\n', [/line 2: site: expected letters/]],
  ['a site without a name', 'site,a\n,1\n', [/line 2: site/]],
  ['a cell of two lines', 'site,a\nx,"1\nb: 2"\n', [/line \d: a: expected one line/]],
];

for (const [name, text, expected] of BAD) {
  t.test(`refused: ${name}`, async (t) => {
    const { faults } = readTable(text, ['a']);
    t.equal(faults.length, expected.length, faults.join('\n'));
    for (const [at, says] of expected.entries()) t.match(faults[at], says);
  });
}
