/** Certificates that only a handshake refuses, as the node makes it at the end. */
import { webcrypto } from 'node:crypto';
import t from 'tap';
import { createAuthority, issueLeaf } from '../../../../lab/certificates/signed-now.ts';
import { parseSiteConfig } from '../../../../lib/config/site-config/read.ts';
import type { KeyPair } from '../../../../lib/pki/authority.ts';
import { x509 } from '../../../../lib/pki/x509.ts';
import { requireAcceptedCertificates } from '../../../../lib/relocation/site-volume/shown-certificate.ts';
import { GOOD_SITE } from '../../config/site-config/good-site.ts';

const { KeyUsageFlags: uses } = x509;
const DAY_MS = 86_400_000;
const RSA = {
  name: 'RSASSA-PKCS1-v1_5',
  modulusLength: 2048,
  publicExponent: new Uint8Array([1, 0, 1]),
} as const;
const API = new x509.SubjectAlternativeNameExtension([
  { type: 'dns', value: 'api.shop.example.com' },
]);
const APPS = new x509.SubjectAlternativeNameExtension([
  { type: 'dns', value: '*.apps.shop.example.com' },
]);

type Keys = webcrypto.CryptoKeyPair;
const keys = (hash = 'SHA-256'): Promise<Keys> =>
  webcrypto.subtle.generateKey({ ...RSA, hash }, true, ['sign', 'verify']);

interface Issued {
  readonly subject: string;
  readonly own: Keys;
  readonly by?: { readonly name: string; readonly keys: Keys };
  readonly hash?: string;
  readonly extensions: readonly x509.Extension[];
}

async function issue({ subject, own, by, hash = 'SHA-256', extensions }: Issued): Promise<string> {
  const made = await x509.X509CertificateGenerator.create({
    serialNumber: webcrypto.randomUUID().replaceAll('-', ''),
    subject,
    issuer: by?.name ?? subject,
    notBefore: new Date(Date.now() - DAY_MS),
    notAfter: new Date(Date.now() + 90 * DAY_MS),
    publicKey: own.publicKey,
    signingKey: await withHash((by?.keys ?? own).privateKey, hash),
    signingAlgorithm: { name: RSA.name, hash },
    extensions: [...extensions],
  });
  return `${made.toString('pem')}\n`;
}

/** WebCrypto binds a key to a hash. */
async function withHash(key: webcrypto.CryptoKey, hash: string): Promise<webcrypto.CryptoKey> {
  const bytes = await webcrypto.subtle.exportKey('pkcs8', key);
  return webcrypto.subtle.importKey('pkcs8', bytes, { name: RSA.name, hash }, true, ['sign']);
}

const pem = async ({ privateKey }: Keys): Promise<string> =>
  x509.PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', privateKey), 'PRIVATE KEY');

const AUTHORITY = [new x509.BasicConstraintsExtension(true, undefined, true)];
const root = { name: 'CN=site root', keys: await keys() };
const rootPem = await issue({ subject: root.name, own: root.keys, extensions: AUTHORITY });
const own = await keys();
const leafBy = (
  more: Partial<Issued>,
  extensions: readonly x509.Extension[] = [],
  name: x509.Extension = API,
) => issue({ subject: 'CN=api', own, by: root, ...more, extensions: [name, ...extensions] });

async function below(extensions: readonly x509.Extension[], hash?: string): Promise<string> {
  const between = { name: 'CN=between', keys: await keys() };
  const of = { subject: between.name, own: between.keys, by: root, extensions };
  const issuer = await issue({ ...of, ...(hash === undefined ? {} : { hash }) });
  return (await leafBy({ by: between })) + issuer + rootPem;
}

const usage = (flags: number) => new x509.KeyUsagesExtension(flags, true);
const accepted: readonly (readonly [name: string, certificate: string])[] = [
  ['signed with SHA-256, with its issuer', (await leafBy({})) + rootPem],
  ['alone', await leafBy({})],
  ['for signatures', (await leafBy({}, [usage(uses.digitalSignature)])) + rootPem],
  [
    'for keys: Go shows it, and Go, curl and Node accept it',
    (await leafBy({}, [usage(uses.keyEncipherment)])) + rootPem,
  ],
  ['below another authority', await below(AUTHORITY)],
];
const refused: readonly (readonly [name: string, certificate: string, found: RegExp])[] = [
  ['signed with SHA-1', (await leafBy({ hash: 'SHA-1' })) + rootPem, /digest algorithm too weak/],
  [
    'for signing certificates only',
    (await leafBy({}, [usage(uses.keyCertSign)])) + rootPem,
    /unsuitable certificate purpose/,
  ],
  [
    'below one that is signed with SHA-1',
    await below(AUTHORITY, 'SHA-1'),
    /digest algorithm too weak/,
  ],
  [
    'below one that is no authority',
    await below([new x509.BasicConstraintsExtension(false)]),
    /invalid CA|purpose/,
  ],
];

const judged = async (given: string | KeyPair, field = 'api', now = new Date()) => {
  const pair = typeof given === 'string' ? { certificate: given, key: await pem(own) } : given;
  const text = `${GOOD_SITE}certificates:\n  ${field}: {certificate: a.crt, key: a.key}\n`;
  const files = new Map([
    ['a.crt', Buffer.from(pair.certificate)],
    ['a.key', Buffer.from(pair.key)],
  ]);
  const config = parseSiteConfig(text, 'site-config.yaml', { files, now });
  return requireAcceptedCertificates(config, text, 'site-config.yaml');
};

for (const [name, certificate] of accepted) {
  t.test(name, async (t) => {
    await t.resolves(judged(certificate));
  });
}

for (const [name, certificate, found] of refused) {
  t.test(name, async (t) => {
    await t.rejects(judged(certificate), {
      kind: 'usage',
      code: 'site-config-refused',
      message: found,
    });
    await t.rejects(judged(certificate), {
      message:
        /^1 error in site-config\.yaml; nothing was changed\nsite-config\.yaml:\d+:\d+ certificates\.api\.certificate: expected one that clients accept/,
    });
  });
}

t.test('that of the ingress is tried by a name below *.apps', async (t) => {
  await t.resolves(judged((await leafBy({}, [], APPS)) + rootPem, 'ingress'));
  await t.rejects(judged((await leafBy({ hash: 'SHA-1' }, [], APPS)) + rootPem, 'ingress'), {
    message: /certificates\.ingress\.certificate: .*too weak/,
  });
});

t.test('dates are judged by the rules for them, not by this clock', async (t) => {
  for (const days of [-400, 400]) {
    const then = new Date(Date.now() + days * DAY_MS);
    const authority = await createAuthority('site', 1000, then, then);
    const profile = { subject: { commonName: 'api' }, dnsNames: ['api.shop.example.com'] };
    const of = { ...profile, usage: 'server', lifetimeDays: 10 } as const;
    const leaf = await issueLeaf(authority, of, then);
    const pair = { ...leaf, certificate: leaf.certificate + authority.certificate };
    await t.resolves(judged(pair, 'api', new Date(then.getTime() + DAY_MS)), `${days}`);
    await t.rejects(judged(pair), { message: /expected one that is valid now/ });
  }
});
