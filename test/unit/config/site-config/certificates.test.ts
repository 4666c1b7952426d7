/** Certificates that a site brings: key, names, dates, chain. */
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import t from 'tap';
import { createAuthority, issueLeaf } from '../../../../lab/certificates/signed-now.ts';
import { filesNamedIn, readSiteConfig } from '../../../../lib/config/site-config/read.ts';
import { createSuccessor } from '../../../../lib/pki/authority.ts';
import type { LeafProfile } from '../../../../lib/pki/leaf.ts';
import { NOW } from '../../relocation/site-volume/volumes.ts';
import { GOOD_SITE } from './good-site.ts';

const DAY_MS = 86_400_000;
const after = (days: number) => new Date(NOW.getTime() + days * DAY_MS);
const authority = await createAuthority('site', 1000, after(-500), after(-500));
const stranger = await createAuthority('stranger', 1000, after(-500), after(-500));

const leaf = (profile: Partial<LeafProfile> = {}, at = NOW) =>
  issueLeaf(
    authority,
    {
      subject: { commonName: 'api' },
      usage: 'server',
      dnsNames: ['api.shop.example.com'],
      lifetimeDays: 100,
      ...profile,
    },
    at,
  );
/** A good leaf, and the certificate of its issuer by a root that ends this many days from now. */
const belowRoot = async (days: number) => {
  const root = await createAuthority('root', days + 20, after(-20));
  const { cross = '', ...issuer } = await createSuccessor(root, after(-20));
  const profile = { subject: { commonName: 'api' }, dnsNames: ['api.shop.example.com'] };
  const made = await issueLeaf(issuer, { ...profile, usage: 'server', lifetimeDays: 100 }, NOW);
  return { certificate: made.certificate + cross, key: made.key };
};
const ingress = { dnsNames: ['*.apps.shop.example.com'] };
const good = await leaf();
const other = await leaf();

interface Pair {
  readonly certificate: string;
  readonly key: string;
}

interface Case {
  readonly name: string;
  readonly pair: Pair;
  readonly field?: 'api' | 'ingress';
  readonly more?: string;
  readonly faults: readonly (readonly [line: string, text: RegExp])[];
}

const CERTIFICATE = '6 certificates.api.certificate';
const KEY = '7 certificates.api.key';

/** openssl req -x509 -newkey ec -nodes -addext subjectAltName=DNS:api.shop.example.com: CA:TRUE by default. */
const OF_OPENSSL: Pair = {
  certificate: `-----BEGIN CERTIFICATE-----
MIIBtjCCAVygAwIBAgIUKKEeZCaerzcJU+LS9/XPg7LC1nowCgYIKoZIzj0EAwIw
HzEdMBsGA1UEAwwUYXBpLnNob3AuZXhhbXBsZS5jb20wIBcNMjYwMTAxMDAwMDAw
WhgPMjEyNTEyMDgwMDAwMDBaMB8xHTAbBgNVBAMMFGFwaS5zaG9wLmV4YW1wbGUu
Y29tMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEHgAvDG4imDWzVN0OhHFmuc1K
3KVR1ozro5CC/8UJjcRz9agVHc1SLuZKJw1NKJ/2Nc4n3axdnODQQPAy31P0oaN0
MHIwHQYDVR0OBBYEFMnMlOXcGMwmF3mG6D6voD+AsFhLMB8GA1UdIwQYMBaAFMnM
lOXcGMwmF3mG6D6voD+AsFhLMA8GA1UdEwEB/wQFMAMBAf8wHwYDVR0RBBgwFoIU
YXBpLnNob3AuZXhhbXBsZS5jb20wCgYIKoZIzj0EAwIDSAAwRQIgCYeFwjsozugE
UCYyrKJQFPunZqSre+BK3OIHiw/bFcQCIQDshBjiI4zLDZi6FKT5xNmGBugefTV1
+jBXWn8DfNVKtQ==
-----END CERTIFICATE-----
`,
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg4yeeNeKON+VzKoRj
cYrt+e/oSA6uTkcbxmftmCtRwAKhRANCAAQeAC8MbiKYNbNU3Q6EcWa5zUrcpVHW
jOujkIL/xQmNxHP1qBUdzVIu5konDU0on/Y1zifdrF2c4NBA8DLfU/Sh
-----END PRIVATE KEY-----
`,
};

const CASES: readonly Case[] = [
  { name: 'a good one', pair: good, faults: [] },
  {
    name: 'with its issuer',
    pair: { ...good, certificate: good.certificate + authority.certificate },
    faults: [],
  },
  ...([7, 8] as const).map(
    (issuers): Case => ({
      name: `with ${issuers} behind it`,
      pair: { ...good, certificate: good.certificate + authority.certificate.repeat(issuers) },
      faults: issuers === 7 ? [] : [[CERTIFICATE, /at most 8 certificates, found 9/]],
    }),
  ),
  { name: 'self-signed by openssl', pair: OF_OPENSSL, faults: [] },
  { name: 'a wildcard for the ingress', field: 'ingress', pair: await leaf(ingress), faults: [] },
  { name: 'for server and client', pair: await leaf({ usage: 'both' }), faults: [] },
  {
    name: 'the key of another',
    pair: { ...good, key: other.key },
    faults: [[KEY, /expected the key of the certificate, found another key/]],
  },
  {
    name: 'another name',
    pair: await leaf({ dnsNames: ['api.other.example.com'] }),
    faults: [
      [CERTIFICATE, /expected one for api\.shop\.example\.com, found one for DNS:api\.other/],
    ],
  },
  {
    name: 'only a common name',
    pair: await leaf({ subject: { commonName: 'api.shop.example.com' }, dnsNames: [] }),
    faults: [[CERTIFICATE, /found one without names/]],
  },
  {
    name: 'an address',
    pair: await leaf({ dnsNames: [], ipAddresses: ['192.168.7.10'] }),
    faults: [[CERTIFICATE, /found one for IP/]],
  },
  {
    name: 'no wildcard for the ingress',
    field: 'ingress',
    pair: await leaf({ dnsNames: ['console.apps.shop.example.com'] }),
    faults: [['6 certificates.ingress.certificate', /expected one for \*\.apps\.shop/]],
  },
  {
    name: 'a wildcard above the ingress',
    field: 'ingress',
    pair: await leaf({ dnsNames: ['*.shop.example.com'] }),
    faults: [['6 certificates.ingress.certificate', /\*\.apps/]],
  },
  {
    name: 'expired',
    pair: await leaf({ lifetimeDays: 10 }, after(-20)),
    faults: [[CERTIFICATE, /found one that ended on 2026-11-13/]],
  },
  {
    name: 'not yet valid',
    pair: await leaf({}, after(20)),
    faults: [[CERTIFICATE, /found one that begins on/]],
  },
  {
    name: 'ends before the volume',
    pair: await leaf({ lifetimeDays: 10 }),
    more: 'validUntil: 2027-06-01\n',
    faults: [[CERTIFICATE, /until validUntil \(2027-06-01\), found one that ends on 2026-12-03/]],
  },
  {
    name: 'ends with the volume',
    pair: good,
    more: `validUntil: ${new X509Certificate(good.certificate).validToDate.toISOString().replace('.000', '')}\n`,
    faults: [],
  },
  {
    name: 'an issuer that has expired',
    pair: await belowRoot(-10),
    faults: [
      [
        CERTIFICATE,
        /one that is valid now, found one that ended on 2026-11-13 as number 2, that of an issuer/,
      ],
    ],
  },
  {
    name: 'an issuer that ends before the volume',
    pair: await belowRoot(30),
    more: 'validUntil: 2027-02-01\n',
    faults: [
      [
        CERTIFICATE,
        /until validUntil \(2027-02-01\), found one that ends on 2026-12-23 as number 2/,
      ],
    ],
  },
  {
    name: 'for clients',
    pair: await leaf({ usage: 'client' }),
    faults: [[CERTIFICATE, /expected one for servers/]],
  },
  { name: 'an authority', pair: authority, faults: [[CERTIFICATE, /found that of an authority/]] },
  {
    name: 'the issuer first',
    pair: { ...good, certificate: authority.certificate + good.certificate },
    faults: [
      [CERTIFICATE, /authority/],
      [KEY, /another key/],
    ],
  },
  {
    name: 'another issuer',
    pair: { ...good, certificate: good.certificate + stranger.certificate },
    faults: [[CERTIFICATE, /found another one as number 2/]],
  },
  {
    name: 'a certificate as key',
    pair: { ...good, key: good.certificate },
    faults: [[KEY, /found none that can be read/]],
  },
  {
    name: 'without its lines',
    pair: { ...good, certificate: good.certificate.replaceAll('\n', ' ') },
    faults: [[CERTIFICATE, /found PEM in one line/]],
  },
  {
    name: 'in DER',
    pair: { certificate: '0\ufffd\u0001', key: '0\ufffd\u0001' },
    faults: [
      [CERTIFICATE, /found a binary file, DER or PKCS#12/],
      [KEY, /found a binary file, DER or PKCS#12/],
    ],
  },
  {
    name: 'a key as certificate',
    pair: { ...good, certificate: good.key },
    faults: [[CERTIFICATE, /expected certificates in PEM/]],
  },
  {
    name: 'a key with a passphrase',
    pair: {
      ...good,
      key: '-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIB\n-----END ENCRYPTED PRIVATE KEY-----\n',
    },
    faults: [[KEY, /found one with a passphrase/]],
  },
  ...(
    [
      ['RSA of 1024 bits', generateKeyPairSync('rsa', { modulusLength: 1024 }), /rsa, 1024 bits/],
      ['secp256k1', generateKeyPairSync('ec', { namedCurve: 'secp256k1' }), /ec, secp256k1/],
      ['Ed448', generateKeyPairSync('ed448'), /found ed448/],
      ['RSA-PSS', generateKeyPairSync('rsa-pss', { modulusLength: 2048 }), /rsa-pss, 2048 bits/],
    ] as const
  ).map(([what, { privateKey }, found]) => ({
    name: `a key that the API server does not serve: ${what}`,
    pair: { ...good, key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })) },
    faults: [[KEY, found]] as const,
  })),
  {
    name: 'a torn certificate',
    pair: {
      ...good,
      certificate: `${good.certificate.slice(0, 200)}\n-----END CERTIFICATE-----\n`,
    },
    faults: [[CERTIFICATE, /none that can be read/]],
  },
];

for (const { name, pair, field = 'api', more = '', faults } of CASES) {
  t.test(name, async (t) => {
    const text = `${GOOD_SITE}certificates:\n  ${field}:\n    certificate: a.crt\n    key: tls/a.key\n${more}`;
    t.same(filesNamedIn(text), ['a.crt', 'tls/a.key']);
    const files = new Map([
      ['a.crt', Buffer.from(pair.certificate)],
      ['tls/a.key', Buffer.from(pair.key)],
    ]);
    const read = readSiteConfig(text, { files, now: NOW });
    if (read.ok) {
      t.same(faults, []);
      t.same(read.config.certificates[field], pair);
      return;
    }
    t.same(
      read.faults.map(({ position, field }) => `${position?.line} ${field}`),
      faults.map(([line]) => line),
    );
    for (const [at, [, says]] of faults.entries()) {
      const { expected, found } = read.faults[at] ?? {};
      t.match(`expected ${expected}, found ${found}`, says);
      t.notMatch(`${expected} ${found}`, /PRIVATE/);
    }
  });
}

t.test('PEM in the configuration itself', async (t) => {
  const block = (pem: string) => `|\n      ${pem.trim().replaceAll('\n', '\n      ')}`;
  const text = `${GOOD_SITE}certificates:\n  api:\n    certificate: ${block(good.certificate)}\n    key: ${block(good.key)}\n`;
  t.same(filesNamedIn(text), []);
  const read = readSiteConfig(text, { files: new Map(), now: NOW });
  t.same(read.ok && read.config.certificates.api, good);
});

t.test('keys that are served', async (t) => {
  for (const { privateKey } of [
    generateKeyPairSync('rsa', { modulusLength: 2048 }),
    ...['prime256v1', 'secp384r1', 'secp521r1'].map((namedCurve) =>
      generateKeyPairSync('ec', { namedCurve }),
    ),
    generateKeyPairSync('ed25519'),
  ]) {
    const key = String(privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const files = new Map([
      ['a', Buffer.from(good.certificate)],
      ['b', Buffer.from(key)],
    ]);
    const text = `${GOOD_SITE}certificates:\n  api: {certificate: a, key: b}\n`;
    const read = readSiteConfig(text, { files, now: NOW });
    const found = read.ok ? [] : read.faults.map((fault) => fault.found);
    t.same(found, ['another key'], `${privateKey.asymmetricKeyType}`);
  }
});

t.test('files as editors and other programs write them: the host gets what Go reads', async (t) => {
  const chain = await belowRoot(1000);
  const text = `${GOOD_SITE}certificates:\n  api: {certificate: a, key: b}\n`;
  for (const [name, certificate, key] of [
    ['a byte order mark', `\ufeff${chain.certificate}`, `\ufeff${chain.key}`],
    [
      'the end of one and the begin of the next on one line',
      chain.certificate.replace('\n-----BEGIN', '-----BEGIN').trim(),
      chain.key,
    ],
    [
      'text before them, and the key behind',
      `Certificate: ...\n${chain.certificate}${chain.key}`,
      chain.key,
    ],
  ] as const) {
    const files = new Map([
      ['a', Buffer.from(certificate)],
      ['b', Buffer.from(key)],
    ]);
    const read = readSiteConfig(text, { files, now: NOW });
    t.same(read.ok && read.config.certificates.api, chain, name);
  }
});
