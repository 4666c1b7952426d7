import { COLLECTIONS, FLOWS, KEYS } from './collection-texts.ts';
import { BLOCKS, QUOTES } from './quoted-texts.ts';

const ANCHORS = [
  ...[
    'a: &x 1\nb: *x',
    'a: *x',
    'a: &x [1]\nb: *x\n*x : 1',
    '&a [*a]',
    'a: &a {b: *a}',
    'a: &a b\nc: &a d\ne: *a',
  ],
  ...[
    'a: &x {k: 1}\nb:\n  <<: *x\n  k: 2',
    'a: &x {k: 1}\nb:\n  k: 2\n  <<: *x',
    'a: &a\n  b: 1',
    'a: &',
    'a: *',
  ],
  ...[
    'a: &x {k: 1}\nc: &y {k: 3, j: 4}\nb:\n  <<: [*x, *y]',
    'b: {<<: {a: 1}}',
    'b: {<<: 1}',
    'b: {<<: [1]}',
  ],
  ...[
    'b: {<<: null}',
    'b: {"<<": {a: 1}}',
    'b: {! "<<": {a: 1}}',
    'b: {!!merge <<: {a: 1}}',
    'b: [<<]',
  ],
  ...[
    'b: {!!str <<: {a: 1}}',
    'b: {<<: {<<: {z: 1}}}',
    'a: &x <<\nb: {*x : {q: 1}}',
    'a: &x {b: 1}\nc: {<<: *x, <<: {d: 1}}',
  ],
  ...[
    'a: &x 1\n{*x : 1}',
    'a: &x 1\nb: {*x : 1}',
    'a: &x 1\n*x : 2',
    'a: &a !!str\n  1',
    'a: !!str &a 1',
  ],
  ...[
    'a: &a &b 1',
    'a: !x !y 1',
    '&a a: 1',
    '&a\na: 1',
    '- &a a: 1\n  b: 2',
    'a: &a-b_1 x\nb: *a-b_1',
  ],
  ...['a: &a.b x', 'a: &é x', 'a: &a/b x\nb: *a/b', 'a: &x [1,2]\nb: [*x, *x]', 'a: &x\nb: *x'],
  `a: &a [x]\n${[...'bcdefghi'].map((name, at) => `${name}: &${name} [${Array(9).fill(`*${'abcdefgh'[at]}`).join(',')}]`).join('\n')}`,
  `a: &a 1\nb:\n${'- *a\n'.repeat(2000)}`,
];

const TAGGED = [
  ...[
    'a: !!set {x, y}',
    'a: !!omap [x: 1]',
    'a: !!map [1]',
    'a: !!seq {x: 1}',
    'a: !!null {x: 1}',
    'a: !!str [1]',
  ],
  ...[
    'a: !!str',
    'a: !!int',
    'a: !!null',
    'a: !',
    '!!str a: 1',
    '!!map {a: 1}',
    '- !!str\n- 1',
    'a: !foo {b: 1}',
  ],
  ...[
    'a: !e!x 1',
    '%TAG !! tag:x,1:\n---\na: !!int "3"',
    'a: !%73 1',
    'a: !!%73tr 1',
    'a: !!int |\n  12\n',
  ],
  ...[
    'a: !!int >-\n  12\n',
    'a: !!str |\n  12\n',
    'a: ! |\n  12',
    'a: !!binary "aG\n  k="',
    'a: !!binary aGk',
  ],
  ...[
    'a: !! b',
    '[!]',
    '{a: !b}',
    'a: !b#c d',
    'a: !<> b',
    'a: !<x> b',
    '- !\n- !!str\n',
    'a: !!binary |\n  aGVs\n  bG8=\n',
    'a: !!timestamp 2001-2-3',
    'a: !!timestamp "2001-02-03 4:5:6"',
  ],
  ...['a: !!timestamp 2001-02-03 04:05:06 -5', 'a: !!timestamp 2001-02-03T24:00:00Z'],
  ...['%YAML 1.1\n---\na: 1', '%YAML 1.2\n---\na: 1', '%FOO x\n---\na: 1'],
];

/** Texts about everything but scalars. */
export const syntaxTexts: readonly string[] = [
  ...[KEYS, FLOWS, QUOTES, BLOCKS, COLLECTIONS, ANCHORS, TAGGED].flat(),
];

/** Several documents, as kubectl divides them. */
export const streamTexts: readonly string[] = [
  ...[
    'a: 1\n---\nb: 0o17',
    '---\na: 1\n---\nb: no\n',
    '# c\n---\na: 1\n',
    'a: 1\n--- # c\nb: 2',
    'a: 1\n---',
  ],
  ...[
    '---\n---\na: 1\n---\n# c\n---\nb: 2\n',
    'a: "---"\n---\nb: |\n  ---\n',
    'a: 1\r\n---\r\nb: 2\r\n',
  ],
  ...[
    'a: 1\n---\n\ufeffb: 2\n',
    'a: 1\n---\n\ufeff---\nb: 2\n',
    'a: 1\r\n---\r\n\ufeff{"b": 2}\r\n',
  ],
  ...[
    '{"a": 1}\n---\n{"b": 2}',
    'a: 1\n---\n{"b": 12345678901234567890}\n',
    'a: 1\n...\n---\nb: 2\n',
  ],
];

/** What Go accepts and is refused here, and why. */
export const refusedHere: Readonly<Record<string, readonly string[]>> = {
  'one of the values would be lost': [
    ...[
      'a: 1\na: 2',
      '1: a\n"1": b',
      '1: a\n1.0: b',
      '1: a\n0x1: b',
      'true: 1\n"true": 2',
      'on: 1\nyes: 2',
    ],
    ...['- a: 1\n  a: 1', '{a: 1, "a": 2}', 'a: {b: 1, b: 2}'],
  ],
  'the rest of the text would be lost': [
    ...['[a] ]', ' a: 1\nb: 2', 'a: 1\n... b', '--- |\nx', 'a # c\nb', 'a: 1\n%YAML 1.1'],
  ],
  'YAML 1.2 reads it differently': [
    ...[
      '{a:}',
      '[a:]',
      '{a:,b: 1}',
      '[?a: b]',
      '{?a : b}',
      'key: &an:chor v',
      'a: &x 1\nb: {*x: 1}',
    ],
  ],
  'the parser reads it differently': ['[!a, b]', 'a: "x\\\n\ny"', 'a: "x\\\r\n \r\ny"'],
  'nobody writes it': ['a: "x \u2028 y"', 'a: 1\n \t# c\nb: 2', '- !!str, x'],
};
