import { dirname } from 'node:path';
import t from 'tap';
import { parse, parseAllDocuments } from 'yaml';
import { inspectCertificate, isIssuedBy } from '../../../lib/pki/certificate.ts';
import { publicKeyFingerprint } from '../../../lib/pki/keys.ts';
import { authorityPaths } from '../../../lib/render/kubernetes/authorities.ts';
import { leafCatalogue } from '../../../lib/render/kubernetes/leaves.ts';
import { authorities, flagsOf, pods, rendered, textAt } from './rendered-host.ts';

t.test('no container sees an authority that it does not sign with', async (t) => {
  for (const { component, container } of pods) {
    const seen = container.volumeMounts.filter(({ mountPath }) => mountPath.includes('/pki/ca'));
    t.equal(seen.length, component === 'kube-controller-manager' ? 4 : 0, component);
  }
});

t.test('the API server knows nodes and administrators, not servers', async (t) => {
  const bundle = textAt(flagsOf('kube-apiserver').get('client-ca-file') ?? '');
  t.ok(bundle.includes(authorities.adminCa.certificate));
  t.ok(bundle.includes(textAt(authorityPaths('kubelet-client').certificate)));
  t.notOk(bundle.includes(authorities.servingCa.certificate));
  t.equal(bundle.split('BEGIN CERTIFICATE').length - 1, 2);
});

t.test('the API server answers to all its names', async (t) => {
  const { dnsNames, ipAddresses } = inspectCertificate(
    textAt(flagsOf('kube-apiserver').get('tls-cert-file') ?? ''),
  );
  t.same(dnsNames, [
    'api.edge.example.test',
    'api-int.edge.example.test',
    'kubernetes',
    'kubernetes.default',
    'kubernetes.default.svc',
    'kubernetes.default.svc.cluster.local',
    'localhost',
    'edge-0',
  ]);
  t.same(ipAddresses, ['127.0.0.1', '::1', '192.0.2.10', '172.30.0.1']);
});

t.test('anonymous access is for three health paths', async (t) => {
  const flags = flagsOf('kube-apiserver');
  t.notOk(flags.has('anonymous-auth'), 'excluded by the configuration file');
  t.match(parse(textAt(flags.get('authentication-config') ?? '')), {
    anonymous: {
      enabled: true,
      conditions: [{ path: '/livez' }, { path: '/readyz' }, { path: '/healthz' }],
    },
  });
});

t.test('all four signers are given, each with its own authority, and no general one', async (t) => {
  const signing = [...flagsOf('kube-controller-manager')].filter(
    ([name]) => name.startsWith('cluster-signing-') && name.endsWith('-file'),
  );
  t.same(
    signing.map(([name]) => name.replace(/^cluster-signing-|-file$/g, '')).sort(),
    ['kube-apiserver-client', 'kubelet-client', 'kubelet-serving', 'legacy-unknown']
      .flatMap((signer) => [`${signer}-cert`, `${signer}-key`])
      .sort(),
  );
  t.equal(new Set(signing.map(([, path]) => path)).size, 8);
});

t.test('what signs anything for anybody is trusted by nobody', async (t) => {
  const { folder, certificate } = authorityPaths('legacy-unknown');
  const holders = rendered.files.filter(({ contents }) => contents.includes(textAt(certificate)));
  t.same(
    holders.map(({ path }) => dirname(path)),
    [folder],
  );
});

t.test('nobody bootstraps and nobody is approved unseen', async (t) => {
  const everything = JSON.stringify(rendered);
  t.notMatch(everything, /bootstrap-token|system:bootstrappers|node-bootstrapper|token-auth/);
  t.notMatch(everything, /certificatesigningrequests:nodeclient/);
});

t.test('the approver may approve one signer and read one node', async (t) => {
  const manifest = rendered.manifests.find(({ name }) => name.includes('approver'));
  const [role] = parseAllDocuments(manifest?.contents ?? '').map((document) => document.toJS());
  t.match(role, { kind: 'ClusterRole' });
  t.same(role.rules.slice(2), [
    {
      apiGroups: ['certificates.k8s.io'],
      resources: ['signers'],
      resourceNames: ['kubernetes.io/kubelet-serving'],
      verbs: ['approve'],
    },
    {
      apiGroups: [''],
      resources: ['nodes'],
      resourceNames: ['edge-0'],
      verbs: ['get', 'list', 'watch'],
    },
  ]);
});

t.test('every leaf of the catalogue is rendered with its key and signed as it says', async (t) => {
  t.ok(leafCatalogue.some(({ name }) => name === 'kubelet-client'));
  for (const leaf of leafCatalogue.filter(({ name }) => name !== 'kubelet-client')) {
    const certificate = textAt(leaf.certificate);
    t.equal(publicKeyFingerprint(certificate), publicKeyFingerprint(textAt(leaf.key)), leaf.name);
    const authority = textAt(authorityPaths(leaf.authority).certificate);
    t.ok(await isIssuedBy(certificate, authority), leaf.name);
  }
  const listed = new Set(leafCatalogue.map(({ certificate }) => certificate));
  for (const { path, contents } of rendered.files) {
    if (!contents.startsWith('-----BEGIN CERTIFICATE') || /ca\.crt$/.test(path)) continue;
    t.ok(listed.has(path), `${path} would run out unnoticed`);
  }
});
