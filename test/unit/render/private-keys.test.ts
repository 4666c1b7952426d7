import { generateKeyPairSync } from 'node:crypto';
import t from 'tap';
import { publicKeyFingerprint } from '../../../lib/pki/keys.ts';
import { keyFingerprintsIn } from '../../../lib/render/private-keys.ts';

const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const pkcs8 = ec.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const sec1 = ec.privateKey.export({ type: 'sec1', format: 'pem' }).toString();
const pkcs1 = rsa.privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
const publicPem = ec.publicKey.export({ type: 'spki', format: 'pem' }).toString();
const base64 = (text: string) => Buffer.from(text).toString('base64');
const [first, second] = [publicKeyFingerprint(pkcs8), publicKeyFingerprint(pkcs1)];

t.test('keys in PEM and in the base64 of Secrets and kubeconfigs', async (t) => {
  for (const [name, text, expected] of [
    ['a key', pkcs8, [first]],
    ['one key in two formats', `${pkcs8}${sec1}`, [first]],
    ['two keys', `${sec1}comment\n${pkcs1}`, [first, second]],
    ['a Secret', `data:\n  tls.crt: ${base64(publicPem)}\n  tls.key: ${base64(pkcs1)}\n`, [second]],
    ['a bundle in base64', `x: "${base64(`${publicPem}${pkcs8}`)}"`, [first]],
    ['a public key', publicPem, []],
    ['no key', 'kind: ConfigMap\n', []],
    ['nothing', '', []],
  ] as const) {
    t.same(keyFingerprintsIn(text), expected, name);
  }
});
