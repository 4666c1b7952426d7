import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import t from 'tap';
import { edited, GOOD, top } from './install-config-file.ts';
import { sno } from './run-sno.ts';

/** A longer message is not readable. */
const MOST_CHARACTERS = 20_000;
const times = (count: number, line: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => line(index)).join('');
const withTop = (text: string) => edited([top(text)]);
const named = (name: string) => edited([['name: sno\n', `name: ${name}\n`]]);

interface Hostile {
  name: string;
  contents: string | Uint8Array;
  says: RegExp;
  /** Number of fault lines. Default: 1. */
  lines?: number;
}

const FILES: readonly Hostile[] = [
  {
    name: '20,000 unknown fields',
    contents: withTop(times(20_000, (index) => `unknown${index}: 1\n`)),
    says: /sno: 20000 errors in .*\n.*20:1 unknown0: expected a known field, found 1\.[\s\S]*\n\.\.\. and 19950 more$/,
    lines: 51,
  },
  {
    name: '20,000 aliases',
    contents: withTop(`a: &a 1\nb: [${times(20_000, () => '*a,')}]`),
    says: /20:1 a: expected a known field/,
    lines: 2,
  },
  {
    name: 'aliases that multiply',
    contents: withTop(
      `a0: &a0 [1,2,3,4,5,6,7,8,9]\n${times(9, (n) => `a${n + 1}: &a${n + 1} [${`*a${n},`.repeat(9)}]\n`)}`,
    ),
    says: /YAML: expected at most 50000 values, with aliases expanded, found more\. Remove some\.$/,
  },
  {
    name: 'merge keys that multiply',
    contents: withTop(
      `a0: &a0 {x: 1, y: 2}\n${times(20, (n) => `a${n + 1}: &a${n + 1} {<<: *a${n}, b: *a${n}, c: *a${n}}\n`)}`,
    ),
    says: /at most 50000 values/,
  },
  {
    name: 'an alias inside of its anchor',
    contents: withTop('a: &a [*a]'),
    says: /no anchor for \*a/,
  },
  {
    name: 'more than a megabyte',
    contents: `${GOOD}# ${'x'.repeat(1024 * 1024)}\n`,
    says: /expected at most 1048576 bytes; found \d+ bytes/,
  },
  {
    name: 'brackets without end',
    contents: '['.repeat(100_000),
    says: /^install-config\.yaml:1:\d+ YAML: expected at most 64 levels of nesting, found more/m,
  },
  {
    name: 'a hundred levels',
    contents: withTop(`a: ${'['.repeat(100)}${']'.repeat(100)}`),
    says: /at most 64 levels of nesting/,
  },
  {
    name: '5,000 machine networks',
    contents: edited([
      [
        '  - cidr: 192.168.7.0/24\n',
        times(5_000, (n) => `  - cidr: 11.${n >> 8}.${n & 255}.0/24\n`),
      ],
    ]),
    says: /networking\.machineNetwork: expected a list with cidr in each entry, found a list/,
  },
  {
    name: '5,000 interfaces',
    contents: edited([
      [
        'existingSystem: overwrite',
        `networkConfig:\n    interfaces:\n${times(5_000, (n) => `    - {name: e${n}, type: bond, link-aggregation: {mode: 1, port: [e${n + 1}]}}\n`)}`,
      ],
    ]),
    says: /networkConfig\.interfaces: expected at most 512 interfaces, found 5000/,
  },
  {
    name: 'the key __proto__',
    contents: withTop('__proto__: {a: 1}'),
    says: /20:1 YAML: expected a known field, found the key __proto__/,
  },
  {
    name: 'the key __proto__ below others',
    contents: edited([['none: {}', 'none: {__proto__: {a: 1}}']]),
    says: /21:10 platform\.none: expected a known field, found the key __proto__/,
  },
  {
    name: 'keys that every object of JavaScript has',
    contents: withTop('constructor: 1\ntoString: {valueOf: 1}\nhasOwnProperty: x'),
    says: /20:1 constructor: expected a known field, found 1\. Remove it/,
    lines: 3,
  },
  {
    name: 'a key without a name',
    contents: withTop('? \n: 1'),
    says: /YAML: expected a string as key, found a key without a name/,
  },
  {
    name: 'null as key',
    contents: withTop('null: 1'),
    says: /20:1 YAML: expected a string as key, found a key without a name/,
  },
  {
    name: 'a list as key',
    contents: withTop('? [a]\n: 1'),
    says: /found a list or mapping as key/,
  },
  {
    name: 'a mapping as key',
    contents: withTop('{a: 1}: 1'),
    says: /found a list or mapping as key/,
  },
  {
    name: 'a merge of something else',
    contents: withTop('<<: 1'),
    says: /YAML: expected a mapping to merge/,
  },
  {
    name: 'escape sequences in a value',
    contents: named('"\\e[31msno\\u202e\\x9b2J"'),
    says: /4:9 metadata\.name: .*found "\\u001b\[31msno\\u202e\\u009b2J"/,
  },
  {
    name: 'escape sequences in a key',
    contents: withTop('"\\e]0;x\\a\\nb": 1'),
    says: /20:1 \["\\u001b\]0;x\\u0007\\nb"\]: expected a known field/,
  },
  {
    name: 'a raw escape character',
    contents: named('\u001b[31msno'),
    says: /4:9 YAML: expected text without control characters, found U\+001B/,
  },
  { name: 'a raw NUL', contents: `${GOOD}#\0\n`, says: /29:2 YAML: .*found U\+0000/ },
  {
    name: 'a very long key',
    contents: withTop(`? ${'k'.repeat(100_000)}\n: 1`),
    says: /20:3 k+\.\.\.: expected a known field/,
  },
  {
    name: 'a very long value',
    contents: named('a'.repeat(100_000)),
    says: /4:9 metadata\.name: .*found "a{57}\.\.\."/,
  },
  {
    name: 'an octal number',
    contents: edited([['hostPrefix: 23', 'hostPrefix: 027']]),
    says: /17:17 networking\.clusterNetwork\[0\]\.hostPrefix: expected a number without leading zeros, found 027/,
  },
  {
    name: 'an octal number as text',
    contents: named('0777'),
    says: /4:9 metadata\.name: expected a number without leading zeros, found 0777, which some programs read as octal/,
  },
  {
    name: 'an octal number in a list',
    contents: withTop('imageContentSources: [0777]'),
    says: /imageContentSources\[0\]: expected a number without leading zeros/,
  },
  {
    name: 'no as text',
    contents: named('no'),
    says: /4:9 metadata\.name: expected a DNS label.*, found false \(written no\)/,
  },
  {
    name: 'UTF-16 with its mark',
    contents: Buffer.from(`\uFEFF${GOOD}`, 'utf16le'),
    says: /install-config\.yaml cannot be used; nothing was written; expected UTF-8 text; found UTF-16\. Save it as UTF-8/,
  },
  {
    name: 'UTF-16 of the other byte order',
    contents: Buffer.from(`\uFEFF${GOOD}`, 'utf16le').swap16(),
    says: /found UTF-16/,
  },
  { name: 'UTF-16 without a mark', contents: Buffer.from(GOOD, 'utf16le'), says: /found UTF-16/ },
  {
    name: 'UTF-32',
    contents: Buffer.from([0xff, 0xfe, 0, 0, 0x61, 0, 0, 0]),
    says: /found UTF-32/,
  },
  {
    name: 'Latin-1',
    contents: Buffer.concat([Buffer.from(GOOD), Buffer.from([0x23, 0xfc, 0x0a])]),
    says: /found other bytes in line 29/,
  },
  {
    name: 'a binary file',
    contents: Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0x02, 0x01, 0x01, 0xff, 0xfe]),
    says: /expected UTF-8 text/,
  },
  {
    name: 'a text instead of a mapping',
    contents: 'hello',
    says: /\(file\): expected the contents of install-config.yaml, found a text without fields/,
  },
  {
    name: 'a tag of another type',
    contents: named('!!binary c25v'),
    says: /4:9 YAML: expected valid YAML, found a syntax error \(Unresolved tag/,
  },
  {
    name: 'a secret in broken YAML',
    contents: withTop('pullSecret: \'hunter2\' "hunter2" hunter2: [hunter2'),
    says: /YAML: expected valid YAML/,
    lines: -1,
  },
];

for (const { name, contents, says, lines = 1 } of FILES) {
  t.test(`one clear answer: ${name}`, async (t) => {
    const dir = t.testdir({ 'install-config.yaml': Buffer.from(contents) });
    await expectAnswer(t, dir, says, lines);
  });
}

async function expectAnswer(t: Tap, dir: string, says: RegExp, lines: number): Promise<void> {
  const { code, out, err } = await sno(['create', 'single-node-ignition-config', '--dir', dir]);
  t.match({ code, out }, { code: 2, out: '' });
  t.match(err, says);
  const [head = '', ...faults] = err.split('\n');
  if (lines > 0 && /^sno: \d+ errors? in /.test(head)) t.equal(faults.length, lines);
  else if (lines > 0) t.same(faults, [], 'one line');
  t.ok(err.length < MOST_CHARACTERS, `${err.length} characters`);
  t.notMatch(err, /\n\s+at |hunter2|E[A-Z]{4,}:/, 'no stack, no secret, no errno');
  t.notMatch(err.replaceAll('\n', ''), /\p{Cc}|\p{Cf}/u, 'nothing that a terminal acts on');
}

type Tap = Pick<typeof t, 'match' | 'equal' | 'same' | 'ok' | 'notMatch'>;

t.test('a folder instead of the file', async (t) => {
  const dir = t.testdir({ 'install-config.yaml': {} });
  await expectAnswer(
    t,
    dir,
    /cannot be used; nothing was written; expected a regular file; found a folder/,
    1,
  );
});

t.test('a FIFO does not block', async (t) => {
  const dir = t.testdir({});
  await execa('mkfifo', [join(dir, 'install-config.yaml')]);
  await expectAnswer(t, dir, /expected a regular file; found a special file/, 1);
});

t.test('a device, through a link', async (t) => {
  const dir = t.testdir({ 'install-config.yaml': t.fixture('symlink', '/dev/zero') });
  await expectAnswer(t, dir, /expected a regular file; found a special file/, 1);
});

t.test('a link to itself, and a file instead of the folder', async (t) => {
  const dir = t.testdir({ 'install-config.yaml': t.fixture('symlink', 'install-config.yaml') });
  await expectAnswer(t, dir, /cannot be read \(too many symbolic links encountered\)/, 1);
  const file = join(dir, 'file');
  writeFileSync(file, '');
  await expectAnswer(t, file, /cannot be read \(not a directory\)/, 1);
});

t.test('a link to a regular file is followed', async (t) => {
  const linked = t.testdir({
    real: 'apiVersion: v2\n',
    'install-config.yaml': t.fixture('symlink', 'real'),
  });
  await expectAnswer(t, linked, /1:13 apiVersion: expected v1, found "v2"/, -1);
});
