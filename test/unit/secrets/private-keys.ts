import { createECDH, createPrivateKey } from 'node:crypto';
import type { SeededRandom } from './random.ts';

const base64url = (bytes: Buffer) => bytes.toString('base64url');

/** A text in the armor of PEM, in lines of `width` characters. */
export function armored(label: string, body: Buffer, width: number): string {
  const lines = body.toString('base64').match(new RegExp(`.{1,${width}}`, 'g')) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n');
}

/** DER before the numbers of an RSA key, whose lines look random for any value. */
const RSA_HEADERS = {
  pkcs1: { label: 'RSA PRIVATE KEY', der: '3082025d02010002818100' },
  pkcs8: {
    label: 'PRIVATE KEY',
    der: '30820278020100300d06092a864886f70d0101010500048202623082025e02010002818100',
  },
} as const;
export function rsa(random: SeededRandom, type: keyof typeof RSA_HEADERS): string {
  const { label, der } = RSA_HEADERS[type];
  return armored(label, Buffer.concat([Buffer.from(der, 'hex'), random.bytes(600)]), 64);
}

export function ec(random: SeededRandom, type: 'sec1' | 'pkcs8'): string {
  const pair = createECDH('prime256v1');
  const d = random.bytes(32);
  pair.setPrivateKey(d);
  const point = pair.getPublicKey();
  const [x, y] = [base64url(point.subarray(1, 33)), base64url(point.subarray(33))];
  const key = { kty: 'EC', crv: 'P-256', x, y, d: base64url(d) };
  return String(createPrivateKey({ key, format: 'jwk' }).export({ type, format: 'pem' }));
}

/** PKCS #8 header of an Ed25519 key, before its 32 bytes. */
const ED25519 = Buffer.from('302e020100300506032b657004220420', 'hex');
export const ed25519 = (random: SeededRandom) =>
  armored('PRIVATE KEY', Buffer.concat([ED25519, random.bytes(32)]), 64);
/** PBES2 header, before its parameters and the encrypted key. */
const PBES2 = Buffer.from('308193304906092a864886f70d01050d303c', 'hex');
export const encrypted = (random: SeededRandom) =>
  armored('ENCRYPTED PRIVATE KEY', Buffer.concat([PBES2, random.bytes(132)]), 64);
