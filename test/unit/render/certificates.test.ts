import { X509Certificate } from 'node:crypto';
import t from 'tap';
import { parse } from 'yaml';
import { createLaptopAuthorities } from '../../../lab/certificates/signed-now.ts';
import { inspectCertificate, isIssuedBy } from '../../../lib/pki/certificate.ts';
import { createAuthorities } from '../../../lib/render/kubernetes/authorities.ts';
import { kubernetesRenderer } from '../../../lib/render/kubernetes/index.ts';
import { byPath, input, rendered, textAt } from './rendered-host.ts';

const authority = (name: string) => textAt(`/etc/kubernetes/pki/ca/${name}/ca.crt`);
const loopback = { dnsNames: ['localhost'], ipAddresses: ['127.0.0.1', '::1'] };
const nameless = { dnsNames: [], ipAddresses: [] };

/** Path without ending, authority, common name, groups, usage, names. */
const LEAVES: readonly [
  string,
  string,
  string,
  readonly string[],
  'client' | 'server' | 'both',
  { dnsNames: string[]; ipAddresses: string[] },
][] = [
  ['/etc/kubernetes/pki/etcd/server', 'etcd', 'etcd-server', [], 'server', loopback],
  ['/etc/kubernetes/pki/etcd/peer', 'etcd', 'etcd-peer', [], 'both', loopback],
  [
    '/etc/kubernetes/pki/kube-apiserver/etcd-client',
    'etcd',
    'kube-apiserver-etcd-client',
    [],
    'client',
    nameless,
  ],
  ['/etc/sno-agents/etcd-client', 'etcd', 'sno-agents:etcd', [], 'client', nameless],
  [
    '/etc/kubernetes/pki/kube-apiserver/serving',
    'serving',
    'kube-apiserver',
    [],
    'server',
    {
      dnsNames: [
        ...['api.edge.example.test', 'api-int.edge.example.test', 'kubernetes'],
        ...['kubernetes.default', 'kubernetes.default.svc', 'kubernetes.default.svc.cluster.local'],
        ...['localhost', 'edge-0'],
      ],
      ipAddresses: ['127.0.0.1', '::1', '192.0.2.10', '172.30.0.1'],
    },
  ],
  // RBAC knows it by name: it is in no group, in particular not the administrators'.
  [
    '/etc/kubernetes/pki/kube-apiserver/kubelet-client',
    'admin',
    'kube-apiserver-kubelet-client',
    [],
    'client',
    nameless,
  ],
  [
    '/etc/kubernetes/pki/kube-apiserver/front-proxy-client',
    'front-proxy',
    'front-proxy-client',
    [],
    'client',
    nameless,
  ],
  [
    '/etc/kubernetes/pki/kube-controller-manager/client',
    'admin',
    'system:kube-controller-manager',
    [],
    'client',
    nameless,
  ],
  [
    '/etc/kubernetes/pki/kube-scheduler/client',
    'admin',
    'system:kube-scheduler',
    [],
    'client',
    nameless,
  ],
  ['/etc/sno-agents/csr-approver', 'admin', 'sno-agents:csr-approver', [], 'client', nameless],
  ['/etc/sno-agents/deferred', 'admin', 'sno-agents:deferred', [], 'client', nameless],
  [
    '/etc/sno-agents/bootstrap-admin',
    'admin',
    'sno-agents:bootstrap-admin',
    ['system:masters'],
    'client',
    nameless,
  ],
];

for (const [path, issuer, commonName, organizations, usage, names] of LEAVES) {
  t.test(`${path}.crt`, async (t) => {
    const certificate = textAt(`${path}.crt`);
    t.ok(await isIssuedBy(certificate, authority(issuer)), issuer);
    const { subject, dnsNames, ipAddresses, ...facts } = inspectCertificate(certificate);
    t.same(subject, { commonName, organizations });
    t.same({ dnsNames, ipAddresses }, names);
    t.equal(facts.clientAuth, usage !== 'server');
    t.equal(facts.serverAuth, usage !== 'client');
    t.equal(facts.isAuthority, false);
    const days = (facts.notAfter.getTime() - Date.now()) / 86_400_000;
    t.ok(days > 364 && days <= 365, `valid for ${days} days more`);
  });
}

t.test('no other leaf is rendered', async (t) => {
  const leaves = rendered.files.filter(
    ({ contents }) =>
      contents.startsWith('-----BEGIN CERTIFICATE') && !inspectCertificate(contents).isAuthority,
  );
  t.same(
    leaves.map(({ path }) => path).toSorted(),
    LEAVES.map(([path]) => `${path}.crt`).toSorted(),
  );
});

/** The authorities of each bundle, and why there are no others. */
const TRUST: readonly [path: string, authorities: readonly string[], reason: string][] = [
  ['/etc/kubernetes/pki/etcd/ca.crt', ['etcd'], 'its clients have full access to all data'],
  ['/etc/sno-agents/etcd-ca.crt', ['etcd'], 'the agents verify etcd'],
  [
    '/etc/kubernetes/pki/kube-apiserver/client-ca.crt',
    ['kubelet-client', 'admin', 'laptop-admin'],
    "a server's certificate authenticates no client",
  ],
  ['/etc/kubernetes/pki/kube-apiserver/etcd-ca.crt', ['etcd'], 'etcd is verified'],
  [
    '/etc/kubernetes/pki/kube-apiserver/kubelet-serving-ca.crt',
    ['kubelet-serving'],
    'kubelets are verified',
  ],
  [
    '/etc/kubernetes/pki/kube-apiserver/front-proxy-ca.crt',
    ['front-proxy'],
    'a client that it signs may name any user',
  ],
  [
    '/etc/kubernetes/pki/kube-controller-manager/api-ca.crt',
    ['serving'],
    'every pod gets it, to verify the API server',
  ],
  [
    '/etc/kubernetes/pki/kube-controller-manager/client-ca.crt',
    ['kubelet-client', 'admin'],
    'the laptop has administrators of the API server only',
  ],
  [
    '/etc/kubernetes/pki/kube-controller-manager/front-proxy-ca.crt',
    ['front-proxy'],
    'as the API server',
  ],
  ['/etc/kubernetes/pki/kube-scheduler/api-ca.crt', ['serving'], 'it verifies the API server'],
  [
    '/etc/kubernetes/pki/kube-scheduler/client-ca.crt',
    ['kubelet-client', 'admin'],
    'as the controller-manager',
  ],
  ['/etc/kubernetes/pki/kube-scheduler/front-proxy-ca.crt', ['front-proxy'], 'as the API server'],
  ['/etc/kubernetes/pki/kubelet/api-ca.crt', ['serving'], 'it verifies the API server'],
  ['/etc/kubernetes/pki/kubelet/client-ca.crt', ['admin'], 'nodes are not clients of a kubelet'],
  ['/etc/sno-agents/api-ca.crt', ['serving'], 'the agents verify the API server'],
];

t.test('each bundle has exactly its authorities', async (t) => {
  for (const [path, authorities, reason] of TRUST) {
    t.equal(textAt(path), authorities.map(authority).join(''), `${path}: ${reason}`);
    t.equal(byPath.get(path)?.mode, 0o644, path);
  }
  const bundles = rendered.files.filter(
    ({ path, contents }) =>
      contents.startsWith('-----BEGIN CERTIFICATE') &&
      inspectCertificate(contents).isAuthority &&
      !path.startsWith('/etc/kubernetes/pki/ca/'),
  );
  t.same(bundles.map(({ path }) => path).toSorted(), TRUST.map(([path]) => path).toSorted());
});

t.test('the authorities of a host with a fast clock are valid once it is correct', async (t) => {
  const given = await createLaptopAuthorities(new Date('2026-03-01T12:00:00Z'));
  const { etcd } = await createAuthorities(given.servingCa);
  t.same(inspectCertificate(etcd.certificate).notBefore, new Date('2026-02-28T12:00:00Z'));
  const later = await createLaptopAuthorities(new Date('2090-01-01'));
  const slow = await createAuthorities(later.servingCa);
  t.ok(inspectCertificate(slow.etcd.certificate).notBefore.getTime() < Date.now());
});

t.test('there are eight self-signed authorities', async (t) => {
  const names = ['admin', 'etcd', 'front-proxy', 'kubelet-client', 'kubelet-serving'];
  const all = [...names, 'legacy-unknown', 'serving', 'laptop-admin'].map(authority);
  t.equal(new Set(all).size, 8);
  t.same(
    all.map((pem) => inspectCertificate(pem).subject.commonName.replace(/@\d+$/, '@')),
    [
      ...['admin-ca', 'etcd-ca', 'front-proxy-ca', 'kubelet-client-ca', 'kubelet-serving-ca'],
      ...['legacy-unknown-ca', 'kube-apiserver-serving-ca@', 'sno-laptop-admin-ca'],
    ],
    'the names differ: the issuer of a leaf is looked up by name',
  );
  for (const pem of all) {
    const certificate = new X509Certificate(pem);
    t.ok(certificate.ca);
    t.ok(certificate.verify(certificate.publicKey));
  }
});

/** The clients on this host, with the files that they use. */
const KUBECONFIGS: readonly [path: string, ca: string, identity: string, user: string][] = [
  [
    '/etc/kubernetes/kube-controller-manager/kubeconfig',
    '/etc/kubernetes/pki/kube-controller-manager/api-ca.crt',
    '/etc/kubernetes/pki/kube-controller-manager/client',
    'kube-controller-manager',
  ],
  [
    '/etc/kubernetes/kube-scheduler/kubeconfig',
    '/etc/kubernetes/pki/kube-scheduler/api-ca.crt',
    '/etc/kubernetes/pki/kube-scheduler/client',
    'kube-scheduler',
  ],
  [
    '/etc/sno-agents/csr-approver.kubeconfig',
    '/etc/sno-agents/api-ca.crt',
    '/etc/sno-agents/csr-approver',
    'csr-approver',
  ],
  [
    '/etc/sno-agents/bootstrap-admin.kubeconfig',
    '/etc/sno-agents/api-ca.crt',
    '/etc/sno-agents/bootstrap-admin',
    'bootstrap-admin',
  ],
  [
    '/etc/sno-agents/deferred.kubeconfig',
    '/etc/sno-agents/api-ca.crt',
    '/etc/sno-agents/deferred',
    'deferred',
  ],
];

/** On loopback, with verification and without embedded keys. */
function localKubeconfig(ca: string, certificate: string, key: string, user: string) {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'local',
        cluster: { server: 'https://127.0.0.1:6443', 'certificate-authority': ca },
      },
    ],
    users: [{ name: user, user: { 'client-certificate': certificate, 'client-key': key } }],
    contexts: [{ name: user, context: { cluster: 'local', user } }],
    'current-context': user,
  };
}

t.test(
  'each client connects on loopback, verifies the API server and has its own identity',
  async (t) => {
    for (const [path, ca, identity, user] of KUBECONFIGS) {
      const expected = localKubeconfig(ca, `${identity}.crt`, `${identity}.key`, user);
      t.same(parse(textAt(path)), expected, path);
      t.equal(byPath.get(path)?.mode, 0o600, path);
    }
    const pair = '/var/lib/kubelet/pki/kubelet-client-current.pem';
    t.same(
      parse(textAt('/var/lib/kubelet/kubeconfig')),
      localKubeconfig('/etc/kubernetes/pki/kubelet/api-ca.crt', pair, pair, 'kubelet'),
    );
    t.equal(byPath.get('/var/lib/kubelet/kubeconfig')?.mode, 0o600);
  },
);

t.test('further names and addresses are in the certificate of the API server alone', async (t) => {
  const apiNames = ['203.0.113.7', 'api.example.org', '2001:DB8::7'];
  const { files } = await kubernetesRenderer.render({
    ...input,
    cluster: { ...input.cluster, apiNames },
  });
  const naming = files.filter(({ contents }) => {
    if (!contents.startsWith('-----BEGIN CERTIFICATE')) return false;
    const { dnsNames, ipAddresses } = inspectCertificate(contents);
    return dnsNames.includes('api.example.org') && ipAddresses.includes('203.0.113.7');
  });
  t.same(
    naming.map(({ path }) => path),
    ['/etc/kubernetes/pki/kube-apiserver/serving.crt'],
  );
  const { ipAddresses } = inspectCertificate(naming[0]?.contents ?? '');
  t.match(ipAddresses.at(-1), /^2001:db8:.*7$/i);
});
