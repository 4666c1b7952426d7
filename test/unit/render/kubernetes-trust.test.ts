import { dirname } from 'node:path';
import t from 'tap';
import { isIssuedBy } from '../../../lib/pki/certificate.ts';
import { publicKeyFingerprint } from '../../../lib/pki/keys.ts';
import { authorityPaths } from '../../../lib/render/kubernetes/authorities.ts';
import { leafCatalogue } from '../../../lib/render/kubernetes/leaves.ts';
import { pods, rendered, textAt } from './rendered-host.ts';

t.test('containers see only the authorities that they sign with', async (t) => {
  for (const { component, container } of pods) {
    const seen = container.volumeMounts.filter(({ mountPath }) => mountPath.includes('/pki/ca'));
    t.equal(seen.length, component === 'kube-controller-manager' ? 4 : 0, component);
  }
});

t.test('nothing trusts the authority of the legacy-unknown signer', async (t) => {
  const { folder, certificate } = authorityPaths('legacy-unknown');
  const holders = rendered.files.filter(({ contents }) => contents.includes(textAt(certificate)));
  t.same(
    holders.map(({ path }) => dirname(path)),
    [folder],
  );
});

t.test('there are no bootstrap tokens and no automatic approvals', async (t) => {
  const everything = JSON.stringify(rendered);
  t.notMatch(everything, /bootstrap\.kubernetes\.io|bootstrap-token-[a-z0-9]{6}/, 'no token');
  const mentions = everything.match(/system:bootstrappers[a-z:-]*|[a-z:-]*node-bootstrapper/g);
  t.same(
    mentions,
    [
      'system:node-bootstrapper',
      'system:bootstrappers:sno-workers',
      // Reads certificates that are public: of the kubelet's clients, and of the API server.
      'system:bootstrappers:sno-workers',
      'system:bootstrappers:sno-workers',
    ],
    'holders of a token for workers, and no others, may make requests',
  );
  t.notMatch(everything, /certificatesigningrequests:nodeclient/);
});

t.test(
  'every leaf of the catalogue is rendered with its key and signed by its authority',
  async (t) => {
    t.same(
      leafCatalogue.map(({ name }) => name),
      [
        ...['etcd-server', 'etcd-peer', 'kube-apiserver-etcd-client', 'sno-agents-etcd-client'],
        ...['kube-apiserver-serving', 'kube-apiserver-kubelet-client', 'front-proxy-client'],
        ...['kube-controller-manager', 'kube-scheduler', 'csr-approver', 'deferred'],
        ...['bootstrap-admin', 'kubelet-client'],
      ],
      'names in messages',
    );
    const pair = '/var/lib/kubelet/pki/kubelet-client-current.pem';
    t.same(leafCatalogue.at(-1), {
      name: 'kubelet-client',
      certificate: pair,
      key: pair,
      authority: 'kubelet-client',
    });
    for (const leaf of leafCatalogue.filter(({ name }) => name !== 'kubelet-client')) {
      const certificate = textAt(leaf.certificate);
      t.equal(publicKeyFingerprint(certificate), publicKeyFingerprint(textAt(leaf.key)), leaf.name);
      const authority = textAt(authorityPaths(leaf.authority).certificate);
      t.ok(await isIssuedBy(certificate, authority), leaf.name);
    }
    const listed = new Set(leafCatalogue.map(({ certificate }) => certificate));
    for (const { path, contents } of rendered.files) {
      if (!contents.startsWith('-----BEGIN CERTIFICATE') || /ca\.crt$/.test(path)) continue;
      t.ok(listed.has(path), `${path} would expire unnoticed`);
    }
  },
);
