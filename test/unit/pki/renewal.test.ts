import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import t from 'tap';
import { createAuthority, issueLeaf } from '../../../lab/certificates/signed-now.ts';
import { createSuccessor } from '../../../lib/pki/authority.ts';
import {
  certificatesIn,
  inspectCertificate,
  isIssuedBy,
  parseCertificate,
} from '../../../lib/pki/certificate.ts';
import { publicKeyFingerprint } from '../../../lib/pki/keys.ts';
import { needsRenewal, rekeyLeaf, renewLeaf } from '../../../lib/pki/leaf.ts';
import { type Algorithm, issue } from '../cli/take-over/test-authority.ts';

const extensionsOf = (certificate: string) =>
  parseCertificate(certificate).extensions.map(({ type, critical, value }) => [
    type,
    critical,
    Buffer.from(value).toString('hex'),
  ]);

const made = new Date('2026-03-01T12:00:00Z');
const authority = await createAuthority('ca', undefined, made);
const profile = {
  subject: { commonName: 'system:node:edge', organizations: ['system:nodes'] },
  usage: 'both',
  dnsNames: ['edge'],
  ipAddresses: ['192.0.2.7'],
} as const;
const leaf = await issueLeaf(authority, profile, made);

t.test('a renewed leaf keeps everything but serial number and dates', async (t) => {
  const renewed = await renewLeaf(leaf.certificate, authority, new Date('2028-05-01T00:00:00Z'));
  const { notBefore, notAfter, serialNumber, ...kept } = inspectCertificate(renewed);
  const before = inspectCertificate(leaf.certificate);
  const { notBefore: _from, notAfter: _to, serialNumber: _serial, ...wanted } = before;
  t.same(kept, wanted);
  t.match(kept, { dnsNames: ['edge'], ipAddresses: ['192.0.2.7'] });
  t.same(extensionsOf(renewed), extensionsOf(leaf.certificate));
  t.equal(publicKeyFingerprint(renewed), publicKeyFingerprint(leaf.key));
  t.not(serialNumber, before.serialNumber);
  t.same(notBefore, before.notBefore);
  t.same(notAfter, new Date('2029-05-01T00:00:00Z'));
  const certificate = new X509Certificate(renewed);
  t.ok(certificate.verify(new X509Certificate(authority.certificate).publicKey));
  t.ok(certificate.checkPrivateKey(createPrivateKey(leaf.key)));
});

for (const algorithm of ['rsa', 'P-256', 'P-384'] satisfies Algorithm[]) {
  t.test(`an authority of openshift-install signs with its ${algorithm} key`, async (t) => {
    const dates = { notBefore: made, notAfter: new Date('2036-03-01T12:00:00Z') };
    const theirs = await issue('kubelet-signer', dates, { algorithm });
    const { certificate, key } = await issueLeaf(theirs, profile, made);
    const issued = new X509Certificate(certificate);
    t.ok(issued.verify(new X509Certificate(theirs.certificate).publicKey));
    t.ok(issued.checkPrivateKey(createPrivateKey(key)));
    t.ok(await isIssuedBy(certificate, theirs.certificate));
  });
}

t.test('an authority with another kind of key signs nothing', async (t) => {
  const { privateKey } = generateKeyPairSync('ed25519');
  const key = `${privateKey.export({ format: 'pem', type: 'pkcs8' })}`;
  await t.rejects(issueLeaf({ ...authority, key }, profile, made), {
    message: /cannot be used.*RSA or an elliptic curve.*ed25519/,
  });
});

t.test('with a slow clock it is valid immediately and for no less time than before', async (t) => {
  const newer = await issueLeaf(authority, profile, new Date('2028-01-01T00:00:00Z'));
  const renewed = await renewLeaf(newer.certificate, authority, new Date('2026-05-02T00:00:00Z'));
  const { notBefore, notAfter } = inspectCertificate(renewed);
  t.same(notBefore, new Date('2026-05-01T00:00:00Z'));
  t.same(notAfter, inspectCertificate(newer.certificate).notAfter);
});

t.test('renewed with a fast clock, it is valid once the clock is correct', async (t) => {
  const renewed = await renewLeaf(leaf.certificate, authority, new Date('2031-01-01T00:00:00Z'));
  t.ok(inspectCertificate(renewed).notBefore < made);
});

t.test('it does not outlive its authority', async (t) => {
  const late = new Date('2036-01-01T00:00:00Z');
  const { certificate } = await rekeyLeaf(leaf.certificate, authority, late);
  for (const pem of [await renewLeaf(leaf.certificate, authority, late), certificate])
    t.same(inspectCertificate(pem).notAfter, inspectCertificate(authority.certificate).notAfter);
});

t.test('an expired authority renews nothing', async (t) => {
  const renewed = (date: string) => renewLeaf(leaf.certificate, authority, new Date(date));
  const failure = {
    kind: 'fatal',
    message: /authority CN=ca has expired.*before 2036-02-27T12:00:00.000Z; found 20.*clock/,
  };
  await t.rejects(renewed('2040-01-01T00:00:00Z'), failure);
  await t.rejects(renewed('2036-02-27T12:00:00Z'), failure);
  t.ok(await renewed('2036-02-27T11:59:59Z'));
  await t.rejects(renewed('1970-01-01T00:00:00Z'), {
    kind: 'fatal',
    message: /authority CN=ca is not valid yet.*after 2026-02-28T12:00:00.000Z; found 1970.*clock/,
  });
  t.ok(await renewed('2026-02-28T12:00:00Z'));
});

t.test('an authority and leaves made with a fast clock are valid once it is correct', async (t) => {
  const fast = new Date('2030-01-01T00:00:00Z');
  const next = await createSuccessor(authority, fast);
  const { certificate } = await rekeyLeaf(leaf.certificate, next, fast);
  for (const pem of [next.certificate, next.cross ?? '', certificate]) {
    t.same(inspectCertificate(pem).notBefore, new Date('2026-02-28T12:00:00Z'));
  }
  t.same(inspectCertificate(certificate).notAfter, new Date('2031-01-01T00:00:00Z'));
  await t.rejects(createSuccessor(authority, new Date('1970-01-01T00:00:00Z')), {
    message: /is not valid yet/,
  });
});

t.test('the leaf of another authority is rejected', async (t) => {
  const twin = await createAuthority('ca', undefined, made);
  await t.rejects(renewLeaf(leaf.certificate, twin, made), {
    kind: 'fatal',
    message: /CN=system:node:edge was not issued by this CA; expected issuer CN=ca; found/,
  });
});

for (const [date, expected] of [
  ['2026-02-28T11:59:59Z', true],
  ['2026-02-28T12:00:00Z', false],
  // 122 days before its end, a third of its lifetime.
  ['2026-10-30T12:00:00Z', false],
  ['2026-10-30T12:00:01Z', true],
  ['2031-01-01T00:00:00Z', true],
] as const) {
  t.test(`at ${date} renewal is ${expected ? '' : 'not '}due`, async (t) => {
    t.equal(needsRenewal(leaf.certificate, new Date(date)), expected);
  });
}

t.test(
  'a renewed leaf is presented with the same other certificates, until they expire',
  async (t) => {
    const { cross = '' } = await createSuccessor(authority, made);
    const { cross: expiring = '' } = await createSuccessor(
      await createAuthority('b', 30, made),
      made,
    );
    const chain = leaf.certificate + cross + expiring;
    const renewed = await renewLeaf(chain, authority, new Date('2028-05-01T00:00:00Z'));
    t.not(certificatesIn(renewed)[0], leaf.certificate);
    t.same(certificatesIn(renewed).slice(1), [cross]);
  },
);

t.test('a leaf by another authority has another key, and the same names and usages', async (t) => {
  const other = await createAuthority('other', undefined, made);
  const { certificate, key } = await rekeyLeaf(leaf.certificate, other, made);
  t.ok(await isIssuedBy(certificate, other.certificate));
  t.equal(publicKeyFingerprint(certificate), publicKeyFingerprint(key));
  t.not(publicKeyFingerprint(key), publicKeyFingerprint(leaf.key));
  const identifiers = ['2.5.29.14', '2.5.29.35'];
  const others = (pem: string) =>
    extensionsOf(pem).filter(([type]) => !identifiers.includes(`${type}`));
  t.same(others(certificate), others(leaf.certificate));
  t.equal(extensionsOf(certificate).length, extensionsOf(leaf.certificate).length);
  const [ours, issuer] = [new X509Certificate(certificate), new X509Certificate(other.certificate)];
  t.ok(ours.checkIssued(issuer), 'by its key identifier too');
});
