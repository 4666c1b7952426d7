import { latin1ToText } from './invalid-utf8.ts';

/** A scalar as go-yaml v2 reads it into an `interface{}`. */
export type GoScalar =
  | { readonly kind: 'null' }
  | { readonly kind: 'bool'; readonly value: boolean }
  /** From -2^63 to 2^64 - 1. */
  | { readonly kind: 'int'; readonly value: bigint }
  | { readonly kind: 'float'; readonly value: number }
  | { readonly kind: 'string'; readonly value: string };

export const TAG_PREFIX = 'tag:yaml.org,2002:';

type ResolvableKind = GoScalar['kind'] | 'timestamp';

/** The tags that go-yaml checks; a text with any other tag is a string. */
const resolvable: ReadonlyMap<string, ResolvableKind> = new Map([
  ['str', 'string'],
  ['bool', 'bool'],
  ['int', 'int'],
  ['float', 'float'],
  ['null', 'null'],
  ['timestamp', 'timestamp'],
]);

/**
 * The value of a plain or tagged scalar (go-yaml v2, resolve.go).
 *
 * @param tag in full, undefined if the scalar is plain and has none
 * @throws Error where the text is not of its tag
 */
export function resolveScalar(tag: string | undefined, text: string): GoScalar {
  if (tag === undefined) return resolvePlain(text);
  const name = tag.startsWith(TAG_PREFIX) ? tag.slice(TAG_PREFIX.length) : '';
  if (name === 'binary') return { kind: 'string', value: decodeBinary(text) };
  const wanted = resolvable.get(name);
  if (wanted === undefined || wanted === 'string') return { kind: 'string', value: text };
  if (wanted === 'timestamp' && isTimestamp(text)) return { kind: 'string', value: text };
  const found = resolvePlain(text);
  if (found.kind === wanted) return found;
  // A number that does not fit int64 is no float: go-yaml has no case for it.
  if (wanted === 'float' && found.kind === 'int' && isInt64(found.value)) {
    return { kind: 'float', value: Number(found.value) };
  }
  throw new Error(`the text cannot be read as !!${name}`);
}

const words: ReadonlyMap<string, GoScalar> = new Map<string, GoScalar>([
  ...each(['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'], {
    kind: 'bool',
    value: true,
  }),
  ...each(['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'], {
    kind: 'bool',
    value: false,
  }),
  ...each(['', '~', 'null', 'Null', 'NULL'], { kind: 'null' }),
  ...each(['.nan', '.NaN', '.NAN'], { kind: 'float', value: Number.NaN }),
  ...each(['.inf', '.Inf', '.INF', '+.inf', '+.Inf', '+.INF'], { kind: 'float', value: Infinity }),
  ...each(['-.inf', '-.Inf', '-.INF'], { kind: 'float', value: -Infinity }),
]);

function each(texts: readonly string[], value: GoScalar): [string, GoScalar][] {
  return texts.map((text) => [text, value]);
}

function resolvePlain(text: string): GoScalar {
  return words.get(text) ?? resolveNumber(text) ?? { kind: 'string', value: text };
}

/** Of a text that begins with a point; go-yaml leaves the underscores to Go's parser. */
const pointFloat = /^\.[0-9]+(?:_[0-9]+)*(?:[eE][-+]?[0-9]+(?:_[0-9]+)*)?$/;
const yamlFloat = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;

function resolveNumber(text: string): GoScalar | undefined {
  const plain = text.replaceAll('_', '');
  if (text.startsWith('.')) return pointFloat.test(text) ? float(plain) : undefined;
  if (!/^[-+0-9]/.test(text)) return undefined;
  const value = integer(plain);
  if (value !== undefined) return { kind: 'int', value };
  return yamlFloat.test(plain) ? float(plain) : undefined;
}

/** A number too large for a float stays text. */
function float(text: string): GoScalar | undefined {
  const value = Number(text);
  return Number.isFinite(value) ? { kind: 'float', value } : undefined;
}

/** Go's strconv.ParseInt and ParseUint with base 0; without sign, a leading 0 is octal. */
const INTEGER = /^([-+]?)(?:0[xX]0*([0-9a-fA-F]+)|0[bB]0*([01]+)|0[oO]?0*([0-7]+)|([0-9]+))$/;
/** go-yaml's own way to read binary numbers accepts a sign after the prefix. */
const SIGNED_BINARY = /^0b([-+])0*([01]+)$/;
/** No more digits of any base fit 64 bits. */
const MAX_DIGITS = 64;

function integer(text: string): bigint | undefined {
  const [, binarySign, binary] = SIGNED_BINARY.exec(text) ?? [];
  if (binary !== undefined) return inRange(binarySign, `0b${binary}`);
  const [, sign, hex, bits, octal, decimal] = INTEGER.exec(text) ?? [];
  if (hex !== undefined) return inRange(sign, `0x${hex}`);
  if (bits !== undefined) return inRange(sign, `0b${bits}`);
  if (octal !== undefined) return inRange(sign, `0o${octal}`);
  // 08 is no octal number, and 0 is both.
  if (decimal === undefined || /^0./.test(decimal)) return undefined;
  return inRange(sign, decimal);
}

function inRange(sign: string | undefined, digits: string): bigint | undefined {
  if (digits.length > MAX_DIGITS + 2) return undefined;
  const value = sign === '-' ? -BigInt(digits) : BigInt(digits);
  if (isInt64(value)) return value;
  return sign === '' && value > 0n && BigInt.asUintN(64, value) === value ? value : undefined;
}

function isInt64(value: bigint): boolean {
  return BigInt.asIntN(64, value) === value;
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Whether Go decodes it (encoding/base64, StdEncoding), which reads over line breaks. */
export const isBase64 = (text: string): boolean => BASE64.test(text.replaceAll(/[\r\n]/g, ''));

function decodeBinary(text: string): string {
  if (!isBase64(text)) throw new Error('!!binary is not base64');
  return latin1ToText(Buffer.from(text, 'base64').toString('latin1'));
}

const DATE = /^([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})(.*)$/;
const TIME =
  /^(?:[Tt]\d{1,2}:\d{1,2}:\d{1,2}(?:[.,]\d+)?(?:Z|[-+](?:[01]\d|2[0-4]):[0-5]\d)| \d{1,2}:\d{1,2}:\d{1,2}(?:[.,]\d+)?)?$/;

/** Of the forms that go-yaml accepts after `!!timestamp`. */
function isTimestamp(text: string): boolean {
  const [, year, month, day, rest = ''] = DATE.exec(text) ?? [];
  const date = new Date(Date.UTC(2000, Number(month) - 1, Number(day)));
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  const isDate = date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day);
  const [hour = 0, minute = 0, second = 0] = (rest.match(/\d+/g) ?? []).map(Number);
  return isDate && TIME.test(rest) && hour < 24 && minute < 60 && second < 60;
}
