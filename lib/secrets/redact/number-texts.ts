import { isUtf8 } from 'node:buffer';
import { nextRun, runEnd, setOf } from '../bytes/base64-text.ts';
import type { Budget } from '../bytes/budget.ts';
import { beginsPrivateKey } from '../bytes/private-keys.ts';
import { bareBase64 } from './pem.ts';
import { type EncodedText, type Span, within } from './rule.ts';

/** In bytes: what is shorter is no secret. */
const MIN_BYTES = 8;
/** What looking at a document takes, however short it is: there can be one in each word. */
const ATTEMPT_BYTES = 1 << 10;
/** Between two numbers of a list. */
const MAX_GAP = 80;
const hexadecimal = setOf('0123456789abcdefABCDEF');
const listed = setOf('0123456789abcdefABCDEFxX,:;- \t\r\n');
/** In no word. */
const HEX = /(?<![A-WYZa-wyz\d])(?:[\da-f]{2}){8,}(?!\w)/gi;
/** As Go, JSON, YAML, openssl and dumps write lists. */
const JOINT = `(?:[,:;-]\\s{0,${MAX_GAP}}|\\s{1,${MAX_GAP}}(?:- )?)`;
const list = (number: string) => `${number}(?:${JOINT}${number}){3,}`;
/** A number for each byte, decimal rather than hexadecimal, or for two. */
const LIST = new RegExp(
  `(?<![A-Za-z\\d])(?:${[
    `${list('\\d{1,3}')}(?!${JOINT}(?:0x)?[\\da-f]{1,2}(?![\\da-z]))`,
    list('0x[\\da-f]{1,2}'),
    list('(?:[\\da-f]{2}){1,2}'),
  ].join('|')})(?![\\da-z])`,
  'gi',
);

/** Bytes of texts and private keys that are written in hex, or as lists of numbers; no digests and no times. */
export function* numberTexts(bytes: Buffer): Generator<EncodedText> {
  const lastLine = bytes.subarray(0, -1).lastIndexOf('\n') + 1;
  for (const { start, end } of numbersIn(bytes)) {
    // The same digits can be decimal and hexadecimal.
    const documents = meaningsOf(bytes.toString('latin1', start, end)).filter(isDocument);
    if (documents.length === 0) continue;
    // More of it can follow on the next line.
    const isOpen = end > lastLine;
    const openFrom = isOpen ? bytes.lastIndexOf('\n', Math.min(start, lastLine)) + 1 : undefined;
    const meanings = (budget: Budget) =>
      documents.map((document) =>
        beginsPrivateKey(document) || !budget.spend(ATTEMPT_BYTES)
          ? bareBase64(document.toString('base64'))
          : within(budget, document),
      );
    yield { runs: [{ start, end }], meanings, openFrom };
  }
}

function* numbersIn(bytes: Buffer): Generator<Span> {
  for (const { set, shortest, isNumber, shape } of KINDS) {
    for (let start = nextRun(bytes, 0, shortest, set); start !== -1; ) {
      const end = runEnd(bytes, start, set);
      if (isNumber(bytes, { start, end })) yield* matchesIn(bytes, { start, end }, shape);
      start = nextRun(bytes, end, shortest, set);
    }
  }
}

function* matchesIn(bytes: Buffer, { start, end }: Span, shape: RegExp): Generator<Span> {
  // With its neighbours: no number is a part of a word.
  const from = Math.max(0, start - 1);
  for (const { index, 0: text } of bytes.toString('latin1', from, end + 1).matchAll(shape)) {
    yield { start: from + index, end: from + index + text.length };
  }
}

/** By the digits of two bytes, printable or of a key in DER; of seven digests one. */
const beginsDocument = (bytes: Buffer, { start }: Span): boolean =>
  (isOfText(bytes[start]) && isOfText(bytes[start + 2])) || bytes.readUInt16BE(start) === DER;
/** 2 to 7. */
const isOfText = (digit = 0) => digit >= 0x32 && digit <= 0x37;
/** `30`. */
const DER = 0x3330;

/** By the characters that stand between numbers. */
function isList(bytes: Buffer, { start, end }: Span): boolean {
  let joints = 0;
  for (let at = start + 1; at < end; at++) {
    if (hexadecimal[bytes[at] ?? 0] === 1 && hexadecimal[bytes[at - 1] ?? 0] === 0) joints += 1;
  }
  return joints >= MIN_BYTES - 1;
}

const KINDS = [
  { set: hexadecimal, shortest: 2 * MIN_BYTES, isNumber: beginsDocument, shape: HEX },
  { set: listed, shortest: 3 * MIN_BYTES - 1, isNumber: isList, shape: LIST },
];

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
