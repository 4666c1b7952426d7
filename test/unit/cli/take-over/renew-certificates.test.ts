import { X509Certificate } from 'node:crypto';
import t from 'tap';
import { renewCertificates } from '../../../../cli/take-over/renew-certificates.ts';
import { publicKeyFingerprint } from '../../../../lib/pki/keys.ts';
import { type Algorithm, issue } from './test-authority.ts';

const NOW = new Date('2030-06-01T12:00:00Z');
const days = (count: number) => new Date(NOW.getTime() + count * 86_400_000);
const DAY = { notBefore: days(-0.5), notAfter: days(0.5) };
const YEAR = { notBefore: days(-0.5), notAfter: days(364.5) };
const DECADE = { notBefore: days(-0.5), notAfter: days(3649.5) };

const indented = (pem: string) => pem.trimEnd().replaceAll(/^/gm, '    ');
const base64 = (text: string) => Buffer.from(text).toString('base64');

for (const algorithm of ['rsa', 'P-256', 'P-384'] satisfies Algorithm[]) {
  t.test(`an authority that lives for a day is signed again by its ${algorithm} key`, async (t) => {
    const signer = await issue('kubelet-signer', DAY, { algorithm });
    const other = await issue('admin-signer', DECADE);
    const leaf = await issue('client', DECADE, { by: signer });
    const { texts, renewed, tooShort } = await renewCertificates(
      new Map([
        ['/tls/kubelet-signer.crt', signer.certificate],
        ['/tls/kubelet-signer.key', signer.key],
        ['/tls/bundle.crt', other.certificate + signer.certificate],
        ['/tls/client.crt', leaf.certificate],
        ['/auth/kubeconfig', `ca: ${base64(signer.certificate + other.certificate)}\nname: x\n`],
        ['/manifests/ca.yaml', `data:\n  ca: |\n${indented(signer.certificate)}\n  b: c\n`],
        ['/manifests/ca.json', JSON.stringify({ ca: signer.certificate, b: 'c' })],
      ]),
      30,
      NOW,
    );
    const now = new X509Certificate(texts.get('/tls/kubelet-signer.crt') ?? '');
    const before = new X509Certificate(signer.certificate);
    t.same(now.validToDate, days(31), 'as long as before, from the last day of shipping');
    t.ok(now.validFromDate <= before.validFromDate);
    t.not(now.serialNumber, before.serialNumber);
    t.ok(now.verify(now.publicKey), 'signed by itself');
    t.equal(now.subject, before.subject);
    t.equal(now.subjectAltName, before.subjectAltName);
    t.equal(now.ca, true);
    t.equal(publicKeyFingerprint(now.toString()), publicKeyFingerprint(signer.key));
    t.ok(new X509Certificate(leaf.certificate).verify(now.publicKey), 'signs what it signed');

    const pem = texts.get('/tls/kubelet-signer.crt') ?? '';
    t.equal(texts.get('/tls/bundle.crt'), other.certificate + pem);
    t.equal(
      texts.get('/auth/kubeconfig'),
      `ca: ${base64(pem + other.certificate)}\nname: x\n`,
      'in base64',
    );
    t.equal(texts.get('/manifests/ca.yaml'), `data:\n  ca: |\n${indented(pem)}\n  b: c\n`);
    t.same(JSON.parse(texts.get('/manifests/ca.json') ?? ''), { ca: pem, b: 'c' });
    t.equal(texts.get('/tls/kubelet-signer.key'), signer.key);
    t.equal(texts.get('/tls/client.crt'), leaf.certificate, 'a leaf that is valid long enough');
    t.match(renewed, [
      {
        name: 'kubelet-signer',
        notAfter: days(31),
        paths: [
          '/tls/kubelet-signer.crt',
          '/tls/bundle.crt',
          '/auth/kubeconfig',
          '/manifests/ca.yaml',
          '/manifests/ca.json',
        ],
      },
    ]);
    t.same(tooShort, []);
  });
}

t.test('a leaf is signed again by its authority, and never outlives it', async (t) => {
  const decade = await issue('lb-signer', DECADE, { algorithm: 'rsa' });
  const day = await issue('aggregator-signer', DAY);
  const soon = await issue('soon-signer', { notBefore: days(-300), notAfter: days(31.5) });
  const server = await issue('server', DAY, { by: decade });
  const client = await issue('client', DAY, { by: day });
  const short = await issue('short', DAY, { by: soon });
  const files = { decade, day, soon, server, client, short };
  const { texts, renewed } = await renewCertificates(
    new Map(
      Object.entries(files).flatMap(([name, { certificate, key }]) => [
        [`/tls/${name}.crt`, certificate],
        [`/tls/${name}.key`, key],
      ]),
    ),
    30,
    NOW,
  );
  const at = (name: string) => new X509Certificate(texts.get(`/tls/${name}.crt`) ?? '');
  t.same(renewed.map(({ name }) => name).toSorted(), [
    'aggregator-signer',
    'client (by aggregator-signer)',
    'server (by lb-signer)',
    'short (by soon-signer)',
  ]);
  t.ok(at('server').verify(at('decade').publicKey));
  t.ok(at('client').verify(at('day').publicKey));
  t.ok(at('client').checkIssued(at('day')));
  t.same(at('server').validToDate, days(31));
  t.same(at('client').validToDate, at('day').validToDate);
  t.same(at('short').validToDate, days(31), 'as its authority allows');
  t.equal(at('server').ca, false);
  t.equal(at('server').subjectAltName, 'DNS:server.test');
  t.equal(texts.get('/tls/decade.crt'), decade.certificate);
  t.equal(texts.get('/tls/soon.crt'), soon.certificate, 'valid for shipping and installation');
});

t.test('what cannot be signed again is named, as is what expires within two years', async (t) => {
  const gone = await issue('gone-signer', DECADE);
  const leaf = await issue('leaf', DAY, { by: gone });
  const lonely = await issue('lonely-signer', DAY);
  const year = await issue('year-signer', YEAR);
  const expiring = await issue('expiring-signer', { notBefore: days(-300), notAfter: days(10) });
  const below = await issue('below', DAY, { by: expiring });
  const given = new Map([
    ['/tls/gone.crt', gone.certificate],
    ['/tls/leaf.crt', leaf.certificate],
    ['/tls/leaf.key', leaf.key],
    ['/tls/lonely.crt', lonely.certificate],
    ['/tls/lonely.key', '(removed)\n'],
    ['/tls/year.crt', year.certificate],
    ['/tls/year.key', year.key],
    ['/auth/kubeconfig', base64(expiring.certificate)],
    ['/tls/below.crt', below.certificate],
  ]);
  const { texts, renewed, tooShort, others } = await renewCertificates(given, 30, NOW);
  t.same(renewed, []);
  t.same(texts, given);
  t.same(tooShort.map(({ name }) => name).toSorted(), [
    'below (by expiring-signer)',
    'expiring-signer',
    'leaf (by gone-signer)',
    'lonely-signer',
  ]);
  t.match(others, [{ name: 'year-signer', notAfter: YEAR.notAfter, paths: ['/tls/year.crt'] }]);
});

t.test('a fraction of a second does not count', async (t) => {
  const signer = await issue('signer', { notBefore: days(0), notAfter: days(1) });
  const given = new Map([
    ['/tls/signer.crt', signer.certificate],
    ['/tls/signer.key', signer.key],
  ]);
  const { renewed, tooShort } = await renewCertificates(given, 30, new Date(NOW.getTime() + 999));
  t.same(tooShort, []);
  t.match(renewed, [{ notAfter: days(31) }]);
});

t.test('a year of shipping also renews what the installer made for a year', async (t) => {
  const year = await issue('year-signer', YEAR);
  const given = new Map([
    ['/tls/year.crt', year.certificate],
    ['/tls/year.key', year.key],
  ]);
  const { renewed } = await renewCertificates(given, 365, NOW);
  t.match(renewed, [{ name: 'year-signer', notAfter: days(730) }]);
});

t.test('a certificate in an unknown form is refused rather than left behind', async (t) => {
  const signer = await issue('signer', DAY);
  const body = signer.certificate.replaceAll(/-----.*-----|\n/g, '');
  const given = new Map([
    ['/tls/signer.crt', signer.certificate],
    ['/tls/signer.key', signer.key],
    ['/manifests/odd.yaml', `caBundle: ${body}\n`],
  ]);
  await t.rejects(renewCertificates(given, 30, NOW), {
    kind: 'usage',
    message: /another form in \/manifests\/odd\.yaml/,
  });
});
