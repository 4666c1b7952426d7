import { createPrivateKey, X509Certificate } from 'node:crypto';
import t from 'tap';
import {
  createAuthority,
  createLaptopAuthorities,
  issueLeaf,
} from '../../../lab/certificates/signed-now.ts';
import { createSuccessor, mayCertifyAuthorities } from '../../../lib/pki/authority.ts';
import { inspectCertificate, isIssuedBy, parseCertificate } from '../../../lib/pki/certificate.ts';
import {
  createSigningKey,
  publicCryptoKey,
  publicKeyFingerprint,
  signingCryptoKey,
} from '../../../lib/pki/keys.ts';
import type { LeafProfile } from '../../../lib/pki/leaf.ts';
import { x509 } from '../../../lib/pki/x509.ts';

const now = new Date('2026-03-01T12:00:00Z');

t.test('an authority signs leaves and its successor, for ten years', async (t) => {
  const authority = await createAuthority('test-ca', undefined, now);
  const certificate = new X509Certificate(authority.certificate);
  t.ok(certificate.ca);
  t.ok(certificate.verify(certificate.publicKey));
  t.ok(certificate.checkPrivateKey(createPrivateKey(authority.key)));
  t.match(authority.key, /^-----BEGIN PRIVATE KEY-----/, 'PKCS#8');
  const parsed = parseCertificate(authority.certificate);
  const constraints = parsed.getExtension(x509.BasicConstraintsExtension);
  // The API server and etcd check this: with 0, a leaf below a cross-signed successor is invalid.
  t.match(constraints, { ca: true, pathLength: 1, critical: true });
  const { keyCertSign, cRLSign, digitalSignature } = x509.KeyUsageFlags;
  t.match(parsed.getExtension(x509.KeyUsagesExtension), {
    usages: keyCertSign | cRLSign | digitalSignature,
    critical: true,
  });
  t.ok(parsed.getExtension(x509.SubjectKeyIdentifierExtension));
  t.match(parsed.signatureAlgorithm, { name: 'ECDSA', hash: { name: 'SHA-256' } });
  t.equal(parsed.subject, 'CN=test-ca');
  t.equal(parsed.issuer, 'CN=test-ca');
  t.equal(certificate.validFromDate.toISOString(), '2026-02-28T12:00:00.000Z');
  t.equal(certificate.validToDate.toISOString(), '2036-02-27T12:00:00.000Z');
});

t.test('a leaf has the requested contents and chains to its authority', async (t) => {
  const authority = await createAuthority('test-ca', undefined, now);
  const leaf = await issueLeaf(
    authority,
    {
      subject: { commonName: 'system:node:edge', organizations: ['system:nodes', 'a, b="c"'] },
      usage: 'both',
      dnsNames: ['edge.example.test'],
      ipAddresses: ['192.0.2.7', '2001:db8::7'],
    },
    now,
  );
  const certificate = new X509Certificate(leaf.certificate);
  const issuer = new X509Certificate(authority.certificate);
  t.ok(certificate.checkIssued(issuer));
  t.ok(certificate.verify(issuer.publicKey));
  t.ok(certificate.checkPrivateKey(createPrivateKey(leaf.key)));
  t.notOk(certificate.ca);
  const parsed = parseCertificate(leaf.certificate);
  t.match(parsed.getExtension(x509.BasicConstraintsExtension), { ca: false, critical: true });
  t.match(parsed.getExtension(x509.KeyUsagesExtension), {
    usages: x509.KeyUsageFlags.digitalSignature,
    critical: true,
  });
  // Clients use them to choose among authorities with the same name.
  const identified = parsed.getExtension(x509.AuthorityKeyIdentifierExtension)?.keyId;
  const identifier = parseCertificate(authority.certificate).getExtension(
    x509.SubjectKeyIdentifierExtension,
  );
  t.equal(identified, identifier?.keyId);
  t.match(parsed.getExtension(x509.SubjectKeyIdentifierExtension)?.keyId, /^[0-9a-f]{40}$/);
  t.match(parsed.signatureAlgorithm, { name: 'ECDSA', hash: { name: 'SHA-256' } });
  t.equal(certificate.checkHost('edge.example.test'), 'edge.example.test');
  t.equal(certificate.checkIP('192.0.2.7'), '192.0.2.7');
  t.same(inspectCertificate(leaf.certificate), {
    subject: { commonName: 'system:node:edge', organizations: ['system:nodes', 'a, b="c"'] },
    serialNumber: certificate.serialNumber.toLowerCase(),
    issuer: { commonName: 'test-ca', organizations: [] },
    dnsNames: ['edge.example.test'],
    ipAddresses: ['192.0.2.7', '2001:db8::7'],
    notBefore: new Date('2026-02-28T12:00:00Z'),
    notAfter: new Date('2027-03-01T12:00:00Z'),
    isAuthority: false,
    clientAuth: true,
    serverAuth: true,
  });
});

t.test('a leaf never outlives its authority, and its usage is exact', async (t) => {
  const authority = await createAuthority('short-ca', 10, now);
  const { notAfter, isAuthority } = inspectCertificate(authority.certificate);
  t.ok(isAuthority);
  t.same(notAfter, new Date('2026-03-11T12:00:00Z'));
  for (const usage of ['client', 'server'] as const) {
    const { certificate } = await issueLeaf(
      authority,
      { subject: { commonName: 'c' }, usage },
      now,
    );
    const { subject, dnsNames, ipAddresses, ...facts } = inspectCertificate(certificate);
    t.same(subject, { commonName: 'c', organizations: [] });
    t.same(facts.notAfter, notAfter);
    t.equal(facts.clientAuth, usage === 'client');
    t.equal(facts.serverAuth, usage === 'server');
    t.same({ dnsNames, ipAddresses }, { dnsNames: [], ipAddresses: [] });
    const names = parseCertificate(certificate).getExtension(x509.SubjectAlternativeNameExtension);
    t.equal(names, null, 'RFC 5280 forbids an empty list of names');
  }
});

t.test('a leaf may be valid for less than a year, and for names or addresses only', async (t) => {
  const authority = await createAuthority('ca', undefined, now);
  const profile = { subject: { commonName: 'x' }, usage: 'server', lifetimeDays: 0.5 } as const;
  const facts = async (names: Pick<LeafProfile, 'dnsNames' | 'ipAddresses'>) =>
    inspectCertificate((await issueLeaf(authority, { ...profile, ...names }, now)).certificate);
  t.match(await facts({ dnsNames: ['edge'] }), {
    dnsNames: ['edge'],
    ipAddresses: [],
    notAfter: new Date('2026-03-02T00:00:00Z'),
  });
  t.match(await facts({ ipAddresses: ['::1'] }), { dnsNames: [], ipAddresses: ['::1'] });
});

t.test('nothing is signed for a time that is no number', async (t) => {
  const authority = await createAuthority('ca', undefined, now);
  const profile = { subject: { commonName: 'x' }, usage: 'client' } as const;
  for (const lifetimeDays of [Number.NaN, Number.POSITIVE_INFINITY]) {
    const forever = issueLeaf(authority, { ...profile, lifetimeDays }, now);
    await t.rejects(forever, { name: 'RangeError', message: /for (NaN|Infinity) days/ });
  }
  await t.rejects(issueLeaf(authority, profile, new Date(Number.NaN)), { name: 'RangeError' });
});

t.test('the default date is now', async (t) => {
  const authority = await createAuthority('ca');
  const leaf = await issueLeaf(authority, { subject: { commonName: 'x' }, usage: 'client' });
  for (const [{ certificate }, days] of [
    [authority, 3650],
    [leaf, 365],
  ] as const) {
    const { notBefore, notAfter } = inspectCertificate(certificate);
    t.ok(Math.abs(notAfter.getTime() - Date.now() - days * 86_400_000) < 3_600_000, `${notAfter}`);
    t.ok(Math.abs(notBefore.getTime() - Date.now() + 86_400_000) < 3_600_000, `${notBefore}`);
  }
});

t.test('serial numbers differ', async (t) => {
  const made = await Promise.all(Array.from({ length: 8 }, () => createAuthority('ca')));
  const serials = made.map(({ certificate }) => inspectCertificate(certificate).serialNumber);
  t.equal(new Set(serials).size, serials.length);
  // RFC 5280: positive, at most 20 octets; the CA/Browser Forum requires 64 random bits.
  for (const serial of serials) {
    t.match(serial, /^[0-9a-f]{2,40}$/);
    t.ok(BigInt(`0x${serial}`) > 2n ** 64n, serial);
  }
});

t.test('an authority with the same name but another key is not the issuer', async (t) => {
  const { servingCa, adminCa } = await createLaptopAuthorities();
  const twin = await createAuthority('sno-laptop-admin-ca');
  const leaf = await issueLeaf(adminCa, { subject: { commonName: 'x' }, usage: 'client' });
  t.ok(await isIssuedBy(leaf.certificate, adminCa.certificate));
  t.notOk(await isIssuedBy(leaf.certificate, twin.certificate));
  t.notOk(await isIssuedBy(leaf.certificate, servingCa.certificate));
  t.notOk(await isIssuedBy(servingCa.certificate, adminCa.certificate), 'both are self-signed');
});

t.test('an authority with the same key but another name is not the issuer', async (t) => {
  const authority = await createAuthority('ca', undefined, now);
  const leaf = await issueLeaf(authority, { subject: { commonName: 'x' }, usage: 'client' }, now);
  const renamed = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'O=another',
    keys: {
      privateKey: signingCryptoKey(authority.key),
      publicKey: publicCryptoKey(authority.certificate),
    },
  });
  t.notOk(await isIssuedBy(leaf.certificate, renamed.toString('pem')));
  const { subject, isAuthority } = inspectCertificate(renamed.toString('pem'));
  t.same(subject, { commonName: '', organizations: ['another'] });
  t.equal(isAuthority, false, 'it has no basic constraints');
});

t.test('the issuer of an expired certificate is recognized', async (t) => {
  const then = new Date('2001-01-01T00:00:00Z');
  const authority = await createAuthority('ca', 10, then);
  const leaf = await issueLeaf(authority, { subject: { commonName: 'x' }, usage: 'client' }, then);
  t.ok(await isIssuedBy(leaf.certificate, authority.certificate));
});

t.test('the laptop creates two authorities of ten years', async (t) => {
  const { servingCa, adminCa } = await createLaptopAuthorities(now);
  const facts = [servingCa, adminCa].map(({ certificate }) => inspectCertificate(certificate));
  t.same(
    facts.map(({ subject, notAfter }) => [subject.commonName, notAfter.toISOString()]),
    [
      ['kube-apiserver-serving-ca', '2036-02-27T12:00:00.000Z'],
      ['sno-laptop-admin-ca', '2036-02-27T12:00:00.000Z'],
    ],
  );
});

t.test('key, public key and certificate have one fingerprint', async (t) => {
  const pair = await createAuthority('ca');
  const fingerprint = publicKeyFingerprint(pair.certificate);
  t.match(fingerprint, /^[0-9a-f]{64}$/);
  t.equal(publicKeyFingerprint(pair.key), fingerprint);
  const sec1 = createPrivateKey(pair.key).export({ type: 'sec1', format: 'pem' }).toString();
  t.equal(publicKeyFingerprint(sec1), fingerprint);
  const bare = await createSigningKey();
  t.equal(publicKeyFingerprint(bare.privateKey), publicKeyFingerprint(bare.publicKey));
  t.not(publicKeyFingerprint(bare.publicKey), fingerprint);
});

t.test('a certificate is found beside its key in the same file', async (t) => {
  const pair = await createAuthority('ca');
  t.equal(parseCertificate(pair.key + pair.certificate).subject, 'CN=ca');
});

for (const [name, text, message] of [
  ['nothing', '', /contains no certificate.*PEM block CERTIFICATE/],
  ['a key', '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n', /no certificate/],
  ['garbage', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n', /cannot be parsed/],
] as const) {
  t.test(`${name} is not a certificate`, async (t) => {
    t.throws(() => parseCertificate(text), { name: 'Failure', kind: 'fatal', message });
  });
}

t.test('the failure to parse a certificate has its cause', async (t) => {
  const text = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
  t.throws(() => parseCertificate(text), { cause: Error });
});

t.test('the last common name counts, and names of other kinds do not', async (t) => {
  const authority = await createAuthority('ca');
  const made = await x509.X509CertificateGenerator.createSelfSigned({
    name: new x509.Name([{ CN: ['first'] }, { O: ['a'] }, { CN: ['last'] }]),
    keys: {
      privateKey: signingCryptoKey(authority.key),
      publicKey: publicCryptoKey(authority.certificate),
    },
    extensions: [
      new x509.SubjectAlternativeNameExtension([
        { type: 'email', value: 'a@example.test' },
        { type: 'url', value: 'https://example.test' },
        { type: 'dns', value: 'edge' },
        { type: 'ip', value: '192.0.2.7' },
      ]),
    ],
  });
  t.match(inspectCertificate(made.toString('pem')), {
    subject: { commonName: 'last', organizations: ['a'] },
    dnsNames: ['edge'],
    ipAddresses: ['192.0.2.7'],
  });
});

t.test(
  'a successor has a key and a name of its own, and a certificate by the old one',
  async (t) => {
    const old = await createAuthority('test-ca', 1000, now);
    const next = await createSuccessor(old, now);
    t.equal(inspectCertificate(next.certificate).subject.commonName, 'test-ca@1772366400');
    t.ok(await isIssuedBy(next.certificate, next.certificate), 'a root');
    t.not(publicKeyFingerprint(next.key), publicKeyFingerprint(old.key));
    const cross = next.cross ?? '';
    t.ok(await isIssuedBy(cross, old.certificate));
    t.equal(publicKeyFingerprint(cross), publicKeyFingerprint(next.key));
    t.match(parseCertificate(cross).getExtension(x509.BasicConstraintsExtension), {
      ca: true,
      pathLength: 0,
      critical: true,
    });
    t.equal(
      parseCertificate(cross).getExtension(x509.AuthorityKeyIdentifierExtension)?.keyId,
      parseCertificate(old.certificate).getExtension(x509.SubjectKeyIdentifierExtension)?.keyId,
    );
    const { notAfter } = inspectCertificate(cross);
    t.same(notAfter, inspectCertificate(old.certificate).notAfter, 'not longer than the old one');
    const again = await createSuccessor(next, new Date('2027-03-01T12:00:00Z'));
    t.equal(inspectCertificate(again.certificate).subject.commonName, 'test-ca@1803902400');
    t.ok(mayCertifyAuthorities(next.certificate));
    t.equal(mayCertifyAuthorities(cross), false, 'path length 0');
    const below = await createSuccessor({ certificate: cross, key: next.key }, now);
    t.equal(below.cross, undefined);
  },
);
