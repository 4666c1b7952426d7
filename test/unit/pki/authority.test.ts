import { createPrivateKey, X509Certificate } from 'node:crypto';
import t from 'tap';
import { Failure } from '../../../lib/errors/failure.ts';
import { createAuthority, createLaptopAuthorities } from '../../../lib/pki/authority.ts';
import { inspectCertificate, isIssuedBy, parseCertificate } from '../../../lib/pki/certificate.ts';
import { createSigningKey, publicKeyFingerprint } from '../../../lib/pki/keys.ts';
import { issueLeaf } from '../../../lib/pki/leaf.ts';
import { x509 } from '../../../lib/pki/x509.ts';

const now = new Date('2026-03-01T12:00:00Z');

t.test('an authority signs leaves and nothing else, for ten years', async (t) => {
  const authority = await createAuthority('test-ca', undefined, now);
  const certificate = new X509Certificate(authority.certificate);
  t.ok(certificate.ca);
  t.ok(certificate.verify(certificate.publicKey));
  t.ok(certificate.checkPrivateKey(createPrivateKey(authority.key)));
  t.match(authority.key, /^-----BEGIN PRIVATE KEY-----/, 'PKCS#8');
  const parsed = parseCertificate(authority.certificate);
  const constraints = parsed.getExtension(x509.BasicConstraintsExtension);
  // What the API server and etcd check: a leaf with the key of a further authority is worth nothing.
  t.match(constraints, { ca: true, pathLength: 0, critical: true });
  const { keyCertSign, cRLSign, digitalSignature } = x509.KeyUsageFlags;
  t.match(parsed.getExtension(x509.KeyUsagesExtension), {
    usages: keyCertSign | cRLSign | digitalSignature,
    critical: true,
  });
  t.ok(parsed.getExtension(x509.SubjectKeyIdentifierExtension));
  t.match(parsed.signatureAlgorithm, { name: 'ECDSA', hash: { name: 'SHA-256' } });
  t.equal(certificate.validFromDate.toISOString(), '2026-02-28T12:00:00.000Z');
  t.equal(certificate.validToDate.toISOString(), '2036-02-27T12:00:00.000Z');
});

t.test('a leaf chains to its authority and says what it was asked to say', async (t) => {
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
  t.ok(parsed.getExtension(x509.AuthorityKeyIdentifierExtension));
  t.ok(parsed.getExtension(x509.SubjectKeyIdentifierExtension));
  t.match(parsed.signatureAlgorithm, { name: 'ECDSA', hash: { name: 'SHA-256' } });
  t.equal(certificate.checkHost('edge.example.test'), 'edge.example.test');
  t.equal(certificate.checkIP('192.0.2.7'), '192.0.2.7');
  t.match(inspectCertificate(leaf.certificate), {
    subject: { commonName: 'system:node:edge', organizations: ['system:nodes', 'a, b="c"'] },
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
  const client = await issueLeaf(authority, { subject: { commonName: 'c' }, usage: 'client' }, now);
  const facts = inspectCertificate(client.certificate);
  t.same(facts.notAfter, inspectCertificate(authority.certificate).notAfter);
  t.match(facts, { clientAuth: true, serverAuth: false, dnsNames: [], ipAddresses: [] });
});

t.test('serial numbers differ', async (t) => {
  const made = await Promise.all(Array.from({ length: 8 }, () => createAuthority('ca')));
  const serials = made.map(({ certificate }) => inspectCertificate(certificate).serialNumber);
  t.equal(new Set(serials).size, serials.length);
  t.ok(serials.every((serial) => /^[4-7][0-9a-f]{31}$/.test(serial)));
});

t.test('an authority of the same name did not sign it', async (t) => {
  const { servingCa, adminCa } = await createLaptopAuthorities();
  const twin = await createAuthority('kube-admin-ca');
  const leaf = await issueLeaf(adminCa, { subject: { commonName: 'x' }, usage: 'client' });
  t.ok(await isIssuedBy(leaf.certificate, adminCa.certificate));
  t.notOk(await isIssuedBy(leaf.certificate, twin.certificate));
  t.notOk(await isIssuedBy(leaf.certificate, servingCa.certificate));
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

t.test('the certificate is found beside its key in one file', async (t) => {
  const pair = await createAuthority('ca');
  t.equal(parseCertificate(pair.key + pair.certificate).subject, 'CN=ca');
});

for (const [name, text] of [
  ['nothing', ''],
  ['a key', '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n'],
  ['garbage', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'],
] as const) {
  t.test(`${name} is not a certificate`, async (t) => {
    t.throws(() => parseCertificate(text), Failure);
  });
}
