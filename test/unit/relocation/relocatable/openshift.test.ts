/** What of OpenShift's certificates decides whether a node can be shipped. */
import t from 'tap';
import { createAuthority, issueLeaf } from '../../../../lab/certificates/signed-now.ts';
import type { KeyPair } from '../../../../lib/pki/authority.ts';
import { inspectCertificate } from '../../../../lib/pki/certificate.ts';
import {
  bootstrapEnd,
  certificateOf,
  certificateSecretSchema,
  clusterCertificates,
} from '../../../../lib/relocation/relocatable/openshift/certificates.ts';

const now = new Date('2030-01-10T00:00:00Z');
const HEALS = {
  'certificates.openshift.io/auto-regenerate-after-offline-expiry': 'https://example.test/1631',
};
const authority = await createAuthority('signer', 30, now);
const leaf = await issueLeaf(
  authority,
  { subject: { commonName: 'leaf' }, usage: 'both', lifetimeDays: 30 },
  now,
);

const secret = (
  object: string,
  certificate: KeyPair['certificate'],
  annotations: Readonly<Record<string, string>> = {},
) => {
  const [namespace, name] = object.split('/');
  return certificateSecretSchema.parse({
    metadata: { namespace, name, annotations },
    data: {
      'tls.crt': Buffer.from(certificate).toString('base64'),
      'tls.key': Buffer.from('the key').toString('base64'),
    },
  });
};

t.test('keys are not kept', async (t) => {
  t.notMatch(JSON.stringify(secret('openshift-x/a', leaf.certificate)), /tls\.key/);
});

const judged: readonly [
  what: string,
  object: string,
  certificate: string,
  annotations: Readonly<Record<string, string>>,
  expected: 'strict' | 'made again' | 'not judged',
][] = [
  [
    'a signer that the API server makes again',
    'openshift-kube-apiserver-operator/aggregator-client-signer',
    authority.certificate,
    HEALS,
    'made again',
  ],
  [
    'the signer of signers of kubelets, in a release that does not say so',
    'openshift-kube-controller-manager-operator/csr-signer-signer',
    authority.certificate,
    {},
    'made again',
  ],
  [
    'the signer of kubelets, signed by that',
    'openshift-kube-controller-manager-operator/csr-signer',
    authority.certificate + leaf.certificate,
    {},
    'made again',
  ],
  [
    'the copy of it that is read',
    'openshift-kube-controller-manager/csr-signer',
    authority.certificate,
    {},
    'made again',
  ],
  [
    'an authority that nobody is known to make again',
    'openshift-service-ca/signing-key',
    authority.certificate,
    {},
    'strict',
  ],
  ['the authority of etcd', 'openshift-etcd/etcd-signer', authority.certificate, {}, 'strict'],
  ['a leaf of etcd', 'openshift-etcd/etcd-peer-edge-0', leaf.certificate, {}, 'strict'],
  [
    'any other leaf: its authority signs it again',
    'openshift-kube-apiserver/aggregator-client',
    leaf.certificate,
    {},
    'not judged',
  ],
  ['one of a workload', 'shop/web', authority.certificate, {}, 'not judged'],
  ['an empty one', 'openshift-x/empty', '', {}, 'not judged'],
];

for (const [what, object, certificate, annotations, expected] of judged) {
  t.test(what, async (t) => {
    const [found, ...others] = clusterCertificates([secret(object, certificate, annotations)], now);
    t.same(others, []);
    if (expected === 'not judged') return void t.equal(found, undefined);
    t.match(found, { path: `Secret ${object}`, state: 'valid' });
    t.equal(found?.madeAgain !== undefined, expected === 'made again');
  });
}

t.test('one that cannot be read is judged, whatever it is', async (t) => {
  const found = clusterCertificates([secret('openshift-x/broken', 'no certificate')], now);
  t.match(found, [{ name: 'broken', state: 'unreadable' }]);
});

t.test('at which time', async (t) => {
  const at = (date: string) =>
    certificateOf({ name: 'a', path: 'b' }, leaf.certificate, new Date(date)).certificate.state;
  t.equal(at('2030-01-10T00:00:00Z'), 'valid');
  t.equal(at('2030-02-20T00:00:00Z'), 'expired');
  t.equal(at('2029-01-01T00:00:00Z'), 'not-yet-valid');
  const { notBefore, notAfter } = inspectCertificate(leaf.certificate);
  t.equal(at(notBefore.toISOString()), 'valid', 'from its first moment');
  t.equal(at(notAfter.toISOString()), 'valid', 'to its last');
  const { certificate } = certificateOf({ name: 'a', path: 'b' }, leaf.certificate, now);
  t.match(certificate, { name: 'a', path: 'b', notAfter: '2030-02-09T00:00:00.000Z' });
  const days = Date.parse(certificate.notAfter ?? '') - Date.parse(certificate.notBefore ?? '');
  t.ok(days / 86_400_000 >= 30, 'by which those of the first day are known');
});

const token = (claims: object) =>
  `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c2ln`;

const bootstraps: readonly [what: string, Parameters<typeof bootstrapEnd>[0], expected: unknown][] =
  [
    ['none', {}, undefined],
    ['a token of a Secret', { token: token({ sub: 'node-bootstrapper' }) }, 'never'],
    ['a token that is no JWT', { token: 'abcdef.0123456789abcdef' }, 'never'],
    ['a token with an end', { token: token({ exp: 1_893_456_000 }) }, new Date(1_893_456_000_000)],
    ['a token whose end is no time', { token: token({ exp: 'soon' }) }, 'never'],
    ['a certificate', { certificate: leaf.certificate }, new Date('2030-02-09T00:00:00Z')],
    [
      'a certificate that ends before its token',
      { certificate: leaf.certificate, token: token({}) },
      new Date('2030-02-09T00:00:00Z'),
    ],
  ];

for (const [what, access, expected] of bootstraps) {
  t.test(`how long a kubelet can ask for a certificate by ${what}`, async (t) => {
    t.same(bootstrapEnd(access), expected);
  });
}
