import { isUtf8 } from 'node:buffer';
import { nextRun, runEnd, setOf } from '../bytes/base64-text.ts';
import { beginsPrivateKey } from '../bytes/private-keys.ts';
import type { Span } from './rule.ts';

/** Shorter than 8 bytes in hex, which is no secret. */
const MIN_RUN = 16;
const MIN_BYTES = 8;
/** Between two numbers of a list. */
const MAX_GAP = 80;
const characters = setOf('0123456789abcdefABCDEFxX,:;- \t\r\n');
/** Between two numbers: as Go, JSON, YAML, openssl and dumps write lists. */
const JOINT = `(?:[,:;-]\\s{0,${MAX_GAP}}|\\s{1,${MAX_GAP}}(?:- )?)`;
const list = (number: string) => `${number}(?:${JOINT}${number}){3,}`;
/** All in one number, as the audit log writes it, or one number for each byte, decimal rather than hexadecimal. */
const NUMBERS = new RegExp(
  `(?<![A-WYZa-wyz\\d])(?:${[
    '(?:0x)?(?:[\\da-f]{2}){8,}',
    `${list('\\d{1,3}')}(?!${JOINT}(?:0x)?[\\da-f]{1,2}(?![\\da-z]))`,
    list('0x[\\da-f]{1,2}'),
    list('(?:[\\da-f]{2}){1,2}'),
  ].join('|')})(?![\\da-z])`,
  'gi',
);

/** Bytes that are written as numbers. */
export interface NumberRun extends Span {
  /** What they can be: the same digits can be decimal and hexadecimal. */
  readonly meanings: readonly Buffer[];
  /** Where its first line begins, if the next bytes may continue it. */
  readonly openFrom?: number;
}

/** Bytes of texts and private keys that are written in hex, or as lists of numbers; no digests and no times. */
export function* numberRuns(bytes: Buffer): Generator<NumberRun> {
  for (let at = nextRun(bytes, 0, MIN_RUN, characters); at !== -1; ) {
    const end = runEnd(bytes, at, characters);
    // With its neighbours: no number is a part of a word.
    const from = Math.max(0, at - 1);
    for (const { index, 0: text } of bytes.toString('latin1', from, end + 1).matchAll(NUMBERS)) {
      const meanings = meaningsOf(text).filter(isDocument);
      if (meanings.length === 0) continue;
      const start = from + index;
      const run = { start, end: start + text.length, meanings };
      // More of it can follow on the next line.
      const isLast = bytes.length - run.end < MAX_GAP;
      yield isLast ? { ...run, openFrom: bytes.lastIndexOf('\n', start) + 1 } : run;
    }
    at = nextRun(bytes, end, MIN_RUN, characters);
  }
}

function meaningsOf(text: string): Buffer[] {
  const numbers = text.toLowerCase().match(/(?:0x)?[\da-f]+/g) ?? [];
  const pairs = numbers.map((number) => number.replace(/^0x(?=.$)/, '0x0').replace(/^0x/, ''));
  const meanings: Buffer[] = [];
  if (numbers.every((number) => /^\d{1,3}$/.test(number) && Number(number) < 256)) {
    meanings.push(Buffer.from(numbers.map(Number)));
  }
  if (pairs.every(({ length }) => length % 2 === 0)) {
    meanings.push(Buffer.from(pairs.join(''), 'hex'));
  }
  return meanings;
}

const isDocument = (bytes: Buffer): boolean =>
  bytes.length >= MIN_BYTES &&
  (isUtf8(bytes) || beginsPrivateKey(bytes) || /[ -~]{8}/.test(bytes.toString('latin1', 0, 64)));
