import { createPublicKey, type JsonWebKey } from 'node:crypto';
import type { Problem } from '../../base/errors/problem.ts';
import { isPathLike } from '../../base/path-like.ts';

/**
 * Why a string does not consist of lines of authorized_keys (sshd(8)); empty lines
 * and comments are allowed.
 */
export function sshKeyProblem(text: string): Problem | undefined {
  const expected = 'OpenSSH public keys, one on each line';
  if (text.includes('PRIVATE KEY')) {
    const fix = 'Use the public key from the .pub file, and keep the private key secret.';
    return { expected, found: 'a private key', fix };
  }
  const keys = sshKeys(text);
  const folded = keys.findIndex((key) => isKeyLine(key) && SECOND_KEY.test(key));
  if (folded >= 0) {
    return {
      expected,
      found: `two keys in one line, number ${folded + 1} of ${keys.length}: the second would be the comment of the first`,
      fix: 'Write each key on a line of its own, below "sshKey: |" in YAML.',
    };
  }
  const bad = keys.findIndex((key) => !isKeyLine(key));
  if (bad < 0) return shortKeyProblem(keys);
  if (CERTIFICATE.test(keys[bad] ?? '')) {
    return {
      expected,
      found: `a certificate, number ${bad + 1} of ${keys.length}`,
      fix: 'Write the key itself, from the .pub file without -cert in its name.',
    };
  }
  const found = isPathLike(keys[bad] ?? '') ? 'the path of a file' : 'an invalid key';
  return {
    expected,
    found: `${found}, number ${bad + 1} of ${keys.length}`,
    fix: 'Copy the complete line of the .pub file, such as ssh-ed25519 AAAA... name.',
  };
}

/** As ssh-keygen -s writes it; sshd takes it from a client, never from this list. */
const CERTIFICATE = /\b[\w-]+-cert-v\d\d@openssh\.com\s+AAAA/;

/** The type and the beginning of a key, twice in a line. */
const SECOND_KEY = /\b(?:ssh|ecdsa|sk)-[\w@.-]+\s+AAAA.*[\s,;](?:ssh|ecdsa|sk)-[\w@.-]+\s+AAAA/;

/** RHEL's default crypto policy refuses shorter ones when somebody logs in (RequiredRSASize). */
const LEAST_RSA_BITS = 2048;

/** Why one of these valid keys logs nobody in; undefined: all do. */
export function shortKeyProblem(keys: readonly string[]): Required<Problem> | undefined {
  const short = keys.findIndex((key) => (rsaBitsOf(key) ?? LEAST_RSA_BITS) < LEAST_RSA_BITS);
  if (short < 0) return undefined;
  return {
    expected: `RSA keys of at least ${LEAST_RSA_BITS} bits`,
    found: `${rsaBitsOf(keys[short] ?? '')} bits in key number ${short + 1} of ${keys.length}`,
    fix: 'Make a new one: ssh-keygen -t ed25519.',
  };
}

/** The keys of an sshKey field, with their options and comments. */
export function sshKeys(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}

/** Of sshd (auth-options.c), which reads over a line with others, or with a time or a port that is none. Some have a quoted value, in which \" is a quote. */
const FLAGS =
  'restrict|cert-authority|(?:no-)?(?:agent-forwarding|port-forwarding|pty|touch-required|user-rc|verify-required|x11-forwarding)';
const VALUED =
  '(?:command|environment|from|permitlisten|principals|tunnel)="(?:[^"\\\\]|\\\\.)*"|expiry-time="\\d{8}(?:\\d{4}(?:\\d\\d)?)?Z?"|permitopen="[^"]+:(?:\\d+|\\*)"';
const OPTION = `(?:${FLAGS}|${VALUED})`;
const OPTIONS = new RegExp(`^${OPTION}(?:,${OPTION})*[ \\t]+`, 'i');

/** `TYPE BASE64` of such a line, without options and comment; undefined if it has no valid key. */
export function publicKeyOf(line: string): string | undefined {
  const bare = [line, line.replace(OPTIONS, '')].find(isPublicKey);
  return bare?.split(/[ \t]+/, 2).join(' ');
}

/** Whether such a line is a key alone, without options. */
export const isPlainKey = (line: string): boolean => isPublicKey(line);

/** Of such a line with a key of RSA; undefined: another key. */
export function rsaBitsOf(line: string): number | undefined {
  const [type, body = ''] = (publicKeyOf(line) ?? '').split(' ');
  const modulus = wireFields(Buffer.from(body, 'base64'))?.[2];
  if (type !== 'ssh-rsa' || modulus === undefined) return undefined;
  return BigInt(`0x0${modulus.toString('hex')}`).toString(2).length;
}

/** A key, optionally after its options; nothing that an editor or a terminal would interpret. */
function isKeyLine(line: string): boolean {
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(line.replaceAll('\t', ' '))) return false;
  return isPublicKey(line) || (OPTIONS.test(line) && isPublicKey(line.replace(OPTIONS, '')));
}

/**
 * `TYPE BASE64 COMMENT`, where the bytes match that type and are complete (RFC
 * 4253, 5656, 8709).
 */
function isPublicKey(line: string): boolean {
  const [type = '', body = ''] = line.split(/[ \t]+/);
  const bytes = Buffer.from(body, 'base64');
  if (bytes.toString('base64') !== body) return false;
  const [name, ...fields] = wireFields(bytes) ?? [];
  if (name?.toString('latin1') !== type) return false;
  switch (type) {
    case 'ssh-ed25519':
      return fields.length === 1 && isEd25519(fields[0]);
    case 'sk-ssh-ed25519@openssh.com':
      return fields.length === 2 && isEd25519(fields[0]);
    case 'ssh-rsa':
      return fields.length === 2 && isRsa(fields[0], fields[1]);
    case 'sk-ecdsa-sha2-nistp256@openssh.com':
      return fields.length === 3 && isPoint('nistp256', fields[0], fields[1]);
    default:
      return (
        fields.length === 2 &&
        isPoint(/^ecdsa-sha2-(\w+)$/.exec(type)?.[1] ?? '', fields[0], fields[1])
      );
  }
}

/** The length-prefixed fields of the bytes; undefined if one is truncated. */
function wireFields(bytes: Buffer): Buffer[] | undefined {
  const fields: Buffer[] = [];
  let at = 0;
  while (at < bytes.length) {
    if (at + 4 > bytes.length) return undefined;
    const end = at + 4 + bytes.readUInt32BE(at);
    if (end > bytes.length) return undefined;
    fields.push(bytes.subarray(at + 4, end));
    at = end;
  }
  return fields;
}

const isEd25519 = (key: Buffer | undefined) => key?.length === 32;

/** sshd refuses keys of less than 1024 bits; exponents are odd and fit 24 bits (x/crypto/ssh). */
function isRsa(exponent: Buffer | undefined, modulus: Buffer | undefined): boolean {
  if (exponent === undefined || modulus === undefined) return false;
  const e = BigInt(`0x0${exponent.toString('hex')}`);
  const n = BigInt(`0x0${modulus.toString('hex')}`);
  const positive = (modulus[0] ?? 0) < 0x80 && (exponent[0] ?? 0) < 0x80;
  return positive && e >= 3n && e % 2n === 1n && e < 1n << 24n && n % 2n === 1n && n >> 1023n > 0n;
}

const CURVES: ReadonlyMap<string, { crv: string; bytes: number }> = new Map([
  ['nistp256', { crv: 'P-256', bytes: 32 }],
  ['nistp384', { crv: 'P-384', bytes: 48 }],
  ['nistp521', { crv: 'P-521', bytes: 66 }],
]);

/** An uncompressed point of the named curve. */
function isPoint(curve: string, name: Buffer | undefined, point: Buffer | undefined): boolean {
  const known = CURVES.get(curve);
  if (known === undefined || point === undefined || name?.toString('latin1') !== curve)
    return false;
  const { crv, bytes } = known;
  if (point.length !== 1 + 2 * bytes || point[0] !== 4) return false;
  const x = point.subarray(1, 1 + bytes).toString('base64url');
  const y = point.subarray(1 + bytes).toString('base64url');
  const key: JsonWebKey = { kty: 'EC', crv, x, y };
  try {
    return createPublicKey({ format: 'jwk', key }).asymmetricKeyType === 'ec';
  } catch {
    return false;
  }
}
