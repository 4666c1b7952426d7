/** A template and a table of sites: what is filled in, and which tables are refused. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readTable } from '../../../cli/site/table.ts';
import { filledTemplate, placeholdersIn } from '../../../cli/site/template.ts';
import { sno } from './run-sno.ts';

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
  ['empty', '\n', [/^expected a table in CSV, found an empty file$/]],
  ['only a header', 'site,a\n', [/a row for each site, found none/]],
  ['without the column of a value', 'site,b\nx,1\n', [/expected a column a, found site, b/]],
  ['without sites', 'a\n1\n', [/expected a column site/, /line 2: site/]],
  ['a column twice', 'site,a,a\nx,1,2\n', [/column a: expected once/]],
  [
    'the recipient misspelt',
    'site,a,recipent\nx,1,age1\n',
    [/column recipent: did you mean recipient\?/],
  ],
  ['semicolons', 'site;a\nx;1\n', [/expected commas between the columns, found semicolons/]],
  ['tabs', 'site\ta\nx\t1\n', [/found tabs/]],
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

t.test('lines that end differently, as of an editor and a spreadsheet', async (t) => {
  const { rows, faults } = readTable('site,a\r\nx,1\ny,2\r\n', ['a']);
  t.same(faults, []);
  t.same(
    rows.map(({ line, cells }) => [line, cells.site, cells.a]),
    [
      [2, 'x', '1'],
      [3, 'y', '2'],
    ],
  );
});

t.test('a column that is used nowhere is told', async (t) => {
  const { unused, faults } = readTable('site,a,recipient,note\nx,1,,2\n', ['a']);
  t.same(faults, []);
  t.same(unused, ['note']);
});

t.test(
  'a table in another encoding, and a recipient that is none, are faults of the table',
  async (t) => {
    const template = own('api_version: 1\ncluster_name: @{site}\nbase_domain: example.com\n');
    const files = {
      'latin.csv': Buffer.from('site,note\na,Z\u00fcrich\n', 'latin1'),
      'wide.csv': Buffer.from('\uFEFFsite\na\n', 'utf16le'),
      'bad.csv': 'site,recipient\na,\nb,age1abc\n',
      'good.csv': '\uFEFFsite,note\r\na,Z\u00fcrich\r\n',
    };
    const dir = t.testdir({ 'site-config.yaml': template, ...files });
    const create = (table: string) => {
      const paths = ['--dir', dir, '--table', join(dir, table), '--output', join(dir, 'out')];
      return sno(['create', 'site-volumes', ...paths, '--format', 'folder']);
    };
    for (const [table, says] of [
      ['latin.csv', /expected UTF-8 text; found other bytes in line 2/],
      ['wide.csv', /expected UTF-8 text; found UTF-16/],
      ['bad.csv', /bad\.csv line 3 \(b\): .*age1abc is not a recipient of age/],
    ] as const) {
      const { code, err } = await create(table);
      t.equal(code, 2);
      t.match(err, says);
      t.notOk(existsSync(join(dir, 'out')), 'nothing is written');
    }
    const { code, err } = await create('good.csv');
    t.equal(code, 0);
    t.match(err, /the column note is used nowhere/);
  },
);

t.test('what is beside a site configuration', async (t) => {
  const dir = t.testdir({
    'site-config.yaml': 'api_version: 1\ncluster_name: a\nbase_domain: example.com\n',
    'extra-manifests': {
      'a.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "{{ x }}"}\n',
    },
    'facts.json': '{}',
  });
  const verify = (...more: readonly string[]) =>
    sno(['verify', 'site-config', join(dir, 'site-config.yaml'), ...more]);
  const { code, err } = await verify();
  t.equal(code, 2);
  t.match(err, /extra-manifests\/a\.yaml.*metadata\.name: expected a value, found a placeholder/);
  const facts = await verify('--host-facts', join(dir, 'facts.json'));
  t.equal(facts.code, 2);
  t.match(facts.err, /has no facts of a node/);
  t.notMatch(facts.err, /\n/, 'one line');
});

t.test('a placeholder in brackets needs quotes, which is said once', async (t) => {
  const template = (ip: string) =>
    own(
      `api_version: 1\ncluster_name: @{site}\nbase_domain: example.com\nsiteChecks: [ping: ${ip}]\n`,
    );
  const dir = t.testdir({
    'site-config.yaml': template('@{ip}'),
    'a.csv': 'site,ip\na,1.1.1.1\nb,1.1.1.2\n',
  });
  const create = () => {
    const paths = ['--dir', dir, '--table', join(dir, 'a.csv'), '--output', join(dir, 'out')];
    return sno(['create', 'site-volumes', ...paths, '--format', 'folder']);
  };
  const { code, err } = await create();
  t.equal(code, 2);
  t.match(
    err,
    /^sno: 1 error in site-config\.yaml; .*\n.*:4:20 YAML: .*put the placeholder in quotes\.$/,
  );
  t.notOk(existsSync(join(dir, 'out')));
  writeFileSync(join(dir, 'site-config.yaml'), template('"@{ip}"'));
  t.equal((await create()).code, 0);
});

t.test('a number that is a text needs quotes in the template, not in the table', async (t) => {
  const template = own(
    'api_version: 1\ncluster_name: a\nbase_domain: example.com\nhosts:\n  - @{sn}\n',
  );
  const dir = t.testdir({ 'site-config.yaml': template, 'a.csv': 'site,sn\na,"12348765"\n' });
  const paths = ['--dir', dir, '--table', join(dir, 'a.csv'), '--output', join(dir, 'out')];
  const { code, err } = await sno(['create', 'site-volumes', ...paths, '--format', 'folder']);
  t.equal(code, 2);
  t.match(err, /hosts\[0\]: .*Write it in quotes: "12348765"\.\nQuotes go around the placeholder/);
});
