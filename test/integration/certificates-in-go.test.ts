/** Certificates of a site, of all kinds that authorities make, judged as by Go's programs, which show them and verify them. */
import { X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { execa } from 'execa';
import t from 'tap';
import { bundleNotices } from '../../lib/config/site/trust-bundle.ts';
import { parseSiteConfig } from '../../lib/config/site-config/read.ts';
import { certificateFaults } from '../../lib/engine/report/destination.ts';
import { certificatesIn } from '../../lib/pki/certificate.ts';
import { requireAcceptedCertificates } from '../../lib/relocation/site-volume/shown-certificate.ts';
import { GOOD_SITE } from '../unit/config/site-config/good-site.ts';
import { askGo } from './go-yaml/program.ts';

const folder = t.testdir();
const openssl = (...args: readonly string[]) =>
  execa('openssl', args, { cwd: folder, timeout: 60_000, stdin: 'ignore' });

const KEYS = {
  p256: ['EC', 'ec_paramgen_curve:P-256'],
  p384: ['EC', 'ec_paramgen_curve:P-384'],
  rsa: ['RSA', 'rsa_keygen_bits:2048'],
  ed25519: ['ED25519'],
  ed448: ['ED448'],
  pss: ['RSA-PSS', 'rsa_keygen_bits:2048'],
  secp256k1: ['EC', 'ec_paramgen_curve:secp256k1'],
  brainpool: ['EC', 'ec_paramgen_curve:brainpoolP384r1'],
  explicit: ['EC', 'ec_paramgen_curve:P-256', 'ec_param_enc:explicit'],
};

interface Made {
  /** The algorithm and its parameters. */
  readonly key?: readonly string[];
  readonly serial?: string;
  /** Arguments of its issuer. */
  readonly signed?: readonly string[];
  readonly extensions?: readonly string[];
}

const AUTHORITY = ['basicConstraints=critical,CA:TRUE', 'keyUsage=critical,keyCertSign'];
const NAME = 'subjectAltName=DNS:api.shop.example.com';

/** Writes NAME.crt and NAME.key. */
async function make(
  name: string,
  { key = KEYS.p256, serial = '7', signed, extensions }: Made,
  by?: string,
) {
  const [algorithm = '', ...parameters] = key;
  const made = parameters.flatMap((parameter) => ['-pkeyopt', parameter]);
  await openssl('genpkey', '-algorithm', algorithm, ...made, '-out', `${name}.key`);
  writeFileSync(
    join(folder, `${name}.cnf`),
    `[req]\ndistinguished_name=dn\n[dn]\n[v3]\n${extensions?.join('\n')}\n`,
  );
  const config = ['-config', `${name}.cnf`];
  await openssl(
    'req',
    '-new',
    ...config,
    '-key',
    `${name}.key`,
    '-subj',
    `/CN=${name}`,
    '-out',
    `${name}.csr`,
  );
  const issuer =
    by === undefined ? ['-signkey', `${name}.key`] : ['-CA', `${by}.crt`, '-CAkey', `${by}.key`];
  await openssl(
    ...['x509', '-req', '-in', `${name}.csr`, '-days', '90', '-set_serial', serial, ...issuer],
    ...['-extfile', `${name}.cnf`, '-extensions', 'v3', ...(signed ?? []), '-out', `${name}.crt`],
  );
  return name;
}

/** The certificates of a server, each followed by its issuer, with the key of the first. */
async function chainOf(id: string, parts: { leaf?: Made; middle?: Made; root?: Made }) {
  const root = await make(`${id}-root`, { extensions: AUTHORITY, ...parts.root });
  const middle =
    parts.middle && (await make(`${id}-middle`, { extensions: AUTHORITY, ...parts.middle }, root));
  const leaf = await make(`${id}-leaf`, { extensions: [NAME], ...parts.leaf }, middle ?? root);
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  const names = [leaf, ...(middle === undefined ? [] : [middle]), root];
  return {
    certificate: names.map((name) => read(`${name}.crt`)).join(''),
    key: read(`${leaf}.key`),
  };
}

const pss = (length: string) => [
  ...['-sha256', '-sigopt', 'rsa_padding_mode:pss', '-sigopt', `rsa_pss_saltlen:${length}`],
];
const kinds: Readonly<Record<string, Parameters<typeof chainOf>[1]>> = {
  plain: {},
  'an issuer between': { middle: {} },
  ...Object.fromEntries(
    Object.entries(KEYS).flatMap(([name, key]) => [
      [`a server's key of ${name}`, { leaf: { key } }],
      [`an issuer's key of ${name}`, { middle: { key } }],
      [`an authority's key of ${name}`, { root: { key } }],
    ]),
  ),
  ...Object.fromEntries(
    ['sha1', 'sha224', 'sha384', 'sha512', 'sha3-256'].flatMap((hash) => [
      [`signed with ${hash}`, { leaf: { signed: [`-${hash}`] } }],
      [`signed with RSA and ${hash}`, { root: { key: KEYS.rsa }, leaf: { signed: [`-${hash}`] } }],
      [`an authority that is signed with ${hash}`, { root: { signed: [`-${hash}`] } }],
    ]),
  ),
  ...Object.fromEntries(
    ['20', '32', 'max'].map((length) => [
      `signed with PSS and a salt of ${length}`,
      { root: { key: KEYS.rsa }, leaf: { signed: pss(length) } },
    ]),
  ),
  ...Object.fromEntries(
    ['-5', '0', `0x${'7f'.repeat(21)}`].flatMap((serial) => [
      [`a server's number of ${serial}`, { leaf: { serial } }],
      [`an issuer's number of ${serial}`, { middle: { serial } }],
      [`an authority's number of ${serial}`, { root: { serial } }],
    ]),
  ),
  'a name of other letters': {
    leaf: {
      extensions: ['2.5.29.17=DER:301c82146170692e73686f702e6578616d706c652e636f6d8204c3a42e78'],
    },
  },
  'other kinds of names': {
    leaf: {
      extensions: [
        `${NAME},DNS:a_b.example.com,IP:10.0.0.1,IP:fd00::1,email:a@example.com,URI:urn:x`,
      ],
    },
  },
  'names of other programs, and with commas': {
    leaf: {
      extensions: [
        ...['subjectAltName=@names', '[names]', 'DNS.1=api.shop.example.com', 'dirName.1=dn1'],
        ...['URI.1=ldap://h/cn=a,o=b', 'otherName.1=1.3.6.1.4.1.311.20.2.3;UTF8:me@example.com'],
        ...['[dn1]', 'CN=a, b', 'O=c'],
      ],
    },
  },
  'names that an issuer permits': {
    middle: { extensions: [...AUTHORITY, 'nameConstraints=critical,permitted;DNS:example.com'] },
  },
  'names that an issuer excludes': {
    middle: {
      extensions: [...AUTHORITY, 'nameConstraints=critical,excluded;DNS:shop.example.com'],
    },
  },
  'an issuer that is none': { middle: { extensions: ['basicConstraints=CA:FALSE'] } },
  'an issuer for clients': {
    middle: { extensions: [...AUTHORITY, 'extendedKeyUsage=clientAuth'] },
  },
  'for clients': { leaf: { extensions: [NAME, 'extendedKeyUsage=clientAuth'] } },
  'a critical extension of its own': {
    leaf: { extensions: [NAME, '1.2.3.4=critical,ASN1:UTF8String:x'] },
  },
};

/** What the laptop finds; undefined: nothing. */
async function refusalOf({ certificate, key }: { certificate: string; key: string }) {
  const text = `${GOOD_SITE}certificates:\n  api: {certificate: a.crt, key: a.key}\n`;
  const files = new Map([
    ['a.crt', Buffer.from(certificate)],
    ['a.key', Buffer.from(key)],
  ]);
  try {
    const config = parseSiteConfig(text, 'site.yaml', { files, now: new Date() });
    await requireAcceptedCertificates(config, text, 'site.yaml');
    return undefined;
  } catch (error) {
    return String(error);
  }
}

t.test('what a server would show', async (t) => {
  const names = Object.keys(kinds);
  const chains = [];
  for (const [index, name] of names.entries())
    chains.push(await chainOf(`n${index}`, kinds[name] ?? {}));
  const answers = await askGo(
    'servers',
    chains.map(({ certificate, key }) => certificate + key),
  );
  for (const [index, name] of names.entries()) {
    const chain = chains[index];
    const judge = answers[index]?.error;
    if (chain === undefined) throw new Error(name);
    t.equal((await refusalOf(chain)) === undefined, judge === undefined, name, { judge });
  }
});

t.test('the authorities that everybody trusts', async (t) => {
  const pem = rootCertificates.join('\n');
  const unread = bundleNotices(pem, new Date()).filter((line) => /programs in Go/.test(line));
  t.strictSame(unread, []);
  t.strictSame(certificateFaults('ca', pem), []);
});

t.test('authorities of which Go reads nothing', async (t) => {
  const { brainpool, secp256k1, explicit, ed448, p384 } = KEYS;
  for (const [id, key] of Object.entries({ brainpool, secp256k1, explicit, ed448, p384 })) {
    const name = await make(`only-${id}`, { key, extensions: AUTHORITY });
    const pem = readFileSync(join(folder, `${name}.crt`), 'utf8');
    t.equal(certificatesIn(pem).length, 1);
    const isRead = id === 'p384';
    t.equal(new X509Certificate(pem).ca, true);
    t.equal(bundleNotices(pem, new Date()).length, isRead ? 0 : 1, `notice of ${id}`);
    // This program itself connects there: all but these can be described by Node.
    const isUnnamed = ['brainpool', 'secp256k1'].includes(id);
    t.equal(certificateFaults('ca', pem).length, isUnnamed ? 1 : 0, `destination with ${id}`);
  }
});
