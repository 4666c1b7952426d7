import { gzipSync, zstdCompressSync } from 'node:zlib';
import { HOSTILE_LINES } from '../../lab/bundle/hostile-lines.ts';
import { RULES } from '../../lib/secrets/redact/triggers.ts';
import { KINDS } from '../unit/secrets/kinds.ts';
import { PLACES } from '../unit/secrets/places.ts';
import type { SeededRandom } from '../unit/secrets/random.ts';

export interface Made {
  readonly text: string;
  /** What it was made of, to be read and made again by hand. */
  readonly recipe: string;
}

/** About as long as a text is; what is made of it by encoding it may be longer. */
const LENGTH = 150_000;
const MAX_LENGTH = 600_000;
const TRIGGERS = RULES.flatMap(({ triggers }) => triggers);
const PUNCTUATION = ' \n\t"\'\\`:=,;&/()[]{}<>|-_.%$@#*!?+~^\0';
const WORDS = 'words a1B2 x 0 true null Secret kind data value name error user: root'.split(' ');

type Encoding = readonly [name: string, encode: (text: string) => string];
const bytesOf = (text: string) => Buffer.from(text, 'latin1');
const ENCODINGS: readonly Encoding[] = [
  ['base64', (text) => bytesOf(text).toString('base64')],
  ['base64 in lines', (text) => bytesOf(text).toString('base64').replace(/.{76}/g, '$&\n')],
  ['hexadecimal', (text) => bytesOf(text).toString('hex')],
  ['gzip', (text) => gzipSync(bytesOf(text)).toString('base64')],
  ['zstd', (text) => zstdCompressSync(bytesOf(text)).toString('base64')],
  ['percent', (text) => encodeURIComponent(text)],
  ['JSON', (text) => JSON.stringify(text)],
  ['a field', (text) => JSON.stringify({ password: text })],
  ['a list', (text) => `[${text},`],
  ['lines with a prefix', (text) => text.replaceAll('\n', '\n2026-11-21T14:58:25 sno-0 app[42]: ')],
  ['indented', (text) => text.replaceAll('\n', '\n    ')],
];

/** One text after another, the same ones for the same seed. */
export function hostileText(random: SeededRandom): Made {
  const pick = <T>(list: readonly T[]): T | undefined => list[random.integer(0, list.length)];
  const pieces = Array.from({ length: random.integer(1, 5) }, () => piece(random));
  const unit = pieces.join('');
  let made: Made = {
    text: unit.repeat(Math.max(1, Math.ceil(LENGTH / Math.max(1, unit.length)))).slice(0, LENGTH),
    recipe: JSON.stringify(unit.slice(0, 200)),
  };
  if (random.integer(0, 8) === 0) {
    const line = pick(HOSTILE_LINES);
    if (line !== undefined) made = { text: line.text, recipe: line.name };
  }
  for (let level = random.integer(0, 4); level > 1; level--) {
    const [name, encode] = pick(ENCODINGS) ?? ['', (text: string) => text];
    made = { text: encode(made.text).slice(0, MAX_LENGTH), recipe: `${made.recipe} as ${name}` };
  }
  return made;
}

function piece(random: SeededRandom): string {
  const pick = <T>(list: readonly T[]): T | undefined => list[random.integer(0, list.length)];
  const makes: readonly (() => string)[] = [
    () => pick(TRIGGERS) ?? '',
    () => pick(TRIGGERS)?.toUpperCase() ?? '',
    () => (pick([...PUNCTUATION]) ?? '').repeat(random.integer(1, 4)),
    () => pick(WORDS) ?? '',
    () => random.text(random.integer(1, 70)),
    () => '\n',
    () => {
      const { field = '', value = '' } = pick(KINDS)?.make(random) ?? {};
      return pick(PLACES)?.write(field, value) ?? '';
    },
  ];
  return pick(makes)?.() ?? '';
}
