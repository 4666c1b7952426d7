import { gzipSync, zstdCompressSync } from 'node:zlib';

/** A line that any container can write, made to cost its reader time or memory. */
export interface HostileLine {
  readonly name: string;
  readonly text: string;
}

/** Long enough to show how the cost grows, and short enough for a container runtime to keep it. */
const LENGTH = 100_000;

const base64 = (bytes: string | Buffer) => Buffer.from(bytes).toString('base64');
const repeated = (text: string, length = LENGTH) =>
  text.repeat(Math.ceil(length / text.length)).slice(0, length);
const of = (name: string, text: string): HostileLine => ({ name, text });
const filledWith = (text: string): HostileLine =>
  of(`only ${JSON.stringify(text)}`, repeated(text));

/** Each level expands by less than what is conspicuous; all together by a million. */
function nestedGzip(): string {
  let bytes = Buffer.alloc(1 << 20, 'words and ');
  for (let level = 0; level < 4; level++)
    bytes = Buffer.from(base64(gzipSync(bytes.subarray(0, 1 << 20))));
  return bytes.toString();
}

/** Of random bytes as many as make the rest expand by almost as much as is allowed. */
function gzipNearRatio(): string {
  const noise = Buffer.from(
    Array.from({ length: 4000 }, (_, at) => (at * at * 31 + at * 7) & 0xff),
  );
  return base64(gzipSync(Buffer.concat([noise, Buffer.alloc(4000 * 150, 'words ')])));
}

const magics = (hex: string) => base64(Buffer.from(repeated(hex, 2 * 150_000), 'hex'));

function jsonInJson(): string {
  let text = '{"password":"x"}';
  for (let level = 0; level < 14; level++) text = JSON.stringify({ level: text });
  return text;
}

export const HOSTILE_LINES: readonly HostileLine[] = [
  of('gzip in gzip', nestedGzip()),
  of('gzip near the ratio', gzipNearRatio()),
  of('zstd that expands', base64(zstdCompressSync(Buffer.alloc(8 << 20, 'a')))),
  of('beginnings of gzip', magics('1f8b08006161616161616161616161616161')),
  of('beginnings of zstd', magics('28b52ffd00')),
  of(
    'base64 of base64',
    Array.from({ length: 6 }).reduce<string>((text) => base64(text), repeated('words ', 30_000)),
  ),
  of(
    'columns of data',
    Array.from({ length: 400 }, (_, at) => `${' '.repeat(at)}data:`).join('\n'),
  ),
  of('Secrets without end', repeated('kind: Secret\ndata:\n  a: YWFh\n')),
  of('data without kind', repeated('"data": {\n')),
  of('keys without end', repeated('-----BEGIN PRIVATE KEY-----\n')),
  of('keys without beginning', repeated('-----END PRIVATE KEY-----\n')),
  of('lines of a key without end', repeated(`${'A'.repeat(64)}\n`)),
  of('names of variables', repeated('- name: PASSWORD\n  value: x\n')),
  of('JSON in JSON', jsonInJson()),
  of('a deep list', repeated('[', 5000) + repeated(']', 5000)),
  of('a deep object', '{"a":'.repeat(5000)),
  of('percent-encoded JSON', repeated(`${encodeURIComponent('{"a":{"password":"x"}}')} `)),
  of('one word without end', repeated('a1B2', 2_000_000)),
  ...[
    '[',
    '{"a":',
    '{}',
    '"',
    '\\"',
    '\\',
    '%25',
    '%22 ',
    'password',
    'password=',
    'password=x ',
    'password: "',
    'password=\\"',
    'Authorization: Basic ',
    'token ',
    'token abcdef.0123456789abcdef ',
    '"kty":"d":"aaaaaaaaaaaaaaaaaaaaaa",',
    '://a:b',
    '://a:b@',
    'aaaaaaaaaa@tcp(',
    'eyJhbGci.',
    'data:text/plain;base64,',
    'data:,%41',
    '$6$aaaaaaaa',
    'cookie: a=b ',
    'ipmitool -P ',
    'AAAA/LS0tLS1',
    '/H4sIAAAA',
    '-----BEGIN PRIVATE KEY-----',
    '-----END PRIVATE KEY-----',
    '-----BEGIN ',
  ].map(filledWith),
];
