import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { createRedactor } from '../../../lib/secrets/redact/redactor.ts';
import { redacted } from '../../unit/secrets/streams.ts';

// A lot of work, possibly on a busy machine.
t.setTimeout(300_000);

const MIB = 1 << 20;
/** Processor time. Less than one second on an ordinary machine. */
const LIMIT_MS = 8000;

const redactor = createRedactor(
  randomBytes(32),
  Array.from(
    { length: 200 },
    () => `eyJhbGciOiJSUzI1NiIsImtpZCI6Ik${randomBytes(30).toString('base64url')}`,
  ),
);

const bomb = gzipSync(Buffer.alloc(8 * MIB)).toString('base64');

const UNITS: readonly string[] = [
  '"',
  "'",
  '\\"',
  '\\',
  ':',
  '=',
  '%',
  '%25',
  '%2B',
  '{',
  '[',
  '<',
  '>',
  '://',
  '@',
  '$',
  '$6$',
  '-',
  '.',
  ' ',
  '\0',
  'A',
  'a.',
  'a:',
  'a://',
  'a://b:',
  'a:b@',
  'token',
  'token ',
  'token=',
  'token="',
  "token='",
  'token:\\"',
  'secret:secret=',
  'password',
  'password=',
  'password: ',
  'password,',
  'pass=,',
  'auth="a',
  'secret"value"',
  '"name":"token","value":',
  'Bearer ',
  'bearer+',
  'basic ',
  'eyJh',
  'eyJh.',
  '\\neyJh',
  '\\n',
  'data:,',
  'data:;',
  'data: ',
  '-u a',
  ' -u ',
  'sshpass -p',
  'ipmitool ',
  'kty"',
  '"kty":"d":',
  'cookie:',
  'cookie: a',
  '-----BEGIN PRIVATE KEY-----',
  '-----END PRIVATE KEY-----',
  '-----BEGIN ',
  'private key-----',
  'BEGIN%20PRIVATE%20KEY',
  'kind: Secret ',
  'apiVersion: ',
  'xoxb-',
  'ghp_',
  'sha256~',
  'AKIA',
  '&sig=',
  '@tcp(',
  'a:b@tcp(',
  'LS0tLS1',
  'H4sI',
  'H4sIAAAAAAAAA',
  'MII',
  'eyJhbGciOiJSUzI1NiIsImtpZCI6Ik',
  '0 ',
  'map[',
  '[1 ',
  `${bomb} `,
  `${'A'.repeat(63)} `,
  `${'ab12'.repeat(16)},`,
];

const LINES: readonly string[] = [
  'data:\n',
  '  data:\n',
  'kind: Secret\n',
  'apiVersion: v1\ndata:\n  a: b\n',
  '- name: TOKEN\n',
  '\n',
  '\r\n',
  'A\n',
  `${'A'.repeat(64)}\n`,
  `${`${'A'.repeat(64)}\n`.repeat(50)}\n`,
  '-----BEGIN PRIVATE KEY-----\n',
  '-----END PRIVATE KEY-----\n',
  `-----BEGIN PRIVATE KEY-----\n${'A'.repeat(64)}\n`,
  `${'A'.repeat(64)}\n-----END PRIVATE KEY-----\n`,
  'token=a\n',
  '%2B\n',
];

async function millisecondsFor(text: string): Promise<number> {
  const bytes = Buffer.from(text);
  const before = process.cpuUsage();
  await redacted(redactor.text, bytes);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

const filled = (unit: string, bytes: number) => unit.repeat(Math.ceil(bytes / unit.length));

/** Shorter times are too small to compare. */
const AT_ONCE_MS = 200;
/** With linear growth, four times the length takes four times as long; with quadratic growth sixteen times. */
const MAX_RATIO = 10;

async function isProportional(unit: string, bytes: number) {
  const small = await millisecondsFor(filled(unit, bytes / 4));
  const large = await millisecondsFor(filled(unit, bytes));
  return large < AT_ONCE_MS || large < small * MAX_RATIO;
}

t.test('no line slows it down', async (t) => {
  for (const unit of [...UNITS, ...LINES]) {
    // Measured twice, since compilation and garbage collection happen at any time.
    const isFine = (await isProportional(unit, MIB / 8)) || (await isProportional(unit, MIB / 8));
    t.ok(isFine, JSON.stringify(unit.slice(0, 40)));
  }
});

t.test('no document slows it down', async (t) => {
  for (const unit of ['{"a":', '[', '"\\"', '{"a":"{\\"a\\":', '[1,', 'null\n']) {
    const took = await millisecondsFor(filled(unit, 3 * MIB));
    t.ok(took < LIMIT_MS, `${unit}: ${Math.round(took)} ms`);
  }
});
