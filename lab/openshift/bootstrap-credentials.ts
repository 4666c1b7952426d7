import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KeyPair } from '../../lib/pki/authority.ts';
import { createSigningKey } from '../../lib/pki/keys.ts';
import { administrators, kubeconfig } from '../../lib/pki/kubeconfig.ts';
import type { LeafProfile } from '../../lib/pki/leaf.ts';
import { createAuthority, issueLeaf } from '../certificates/signed-now.ts';

/** The authorities of a bootstrap host, by the file names that openshift-install gives them. */
const signers = [
  ...['admin-kubeconfig-signer', 'aggregator-signer', 'kube-control-plane-signer'],
  ...['kube-apiserver-to-kubelet-signer', 'kubelet-bootstrap-kubeconfig-signer', 'kubelet-signer'],
  ...['kube-apiserver-lb-signer', 'kube-apiserver-localhost-signer', 'root-ca'],
  'kube-apiserver-service-network-signer',
] as const;
type Signer = (typeof signers)[number];

const serving = [
  ...['kube-apiserver-lb-signer', 'kube-apiserver-localhost-signer'],
  'kube-apiserver-service-network-signer',
] as const satisfies Signer[];

const bundles: Readonly<Record<string, readonly Signer[]>> = {
  'admin-kubeconfig-ca-bundle': ['admin-kubeconfig-signer'],
  'kube-apiserver-complete-client-ca-bundle': [
    ...(['admin-kubeconfig-signer', 'kubelet-signer', 'kube-control-plane-signer'] as const),
    ...(['kube-apiserver-to-kubelet-signer', 'kubelet-bootstrap-kubeconfig-signer'] as const),
  ],
  'kube-apiserver-complete-server-ca-bundle': serving,
  'kube-control-plane-ca-bundle': ['kube-control-plane-signer'],
  'kubelet-bootstrap-kubeconfig-ca-bundle': ['kubelet-bootstrap-kubeconfig-signer'],
  'kubelet-client-ca-bundle': ['kubelet-signer'],
};

type Leaf = readonly [Signer, LeafProfile];

const server = (signer: Signer, names: Partial<LeafProfile>): Leaf => [
  signer,
  { subject: { commonName: 'system:kube-apiserver' }, usage: 'server', ...names },
];
const client = (signer: Signer, commonName: string): Leaf => [
  signer,
  { subject: { commonName, organizations: ['kube-master'] }, usage: 'client' },
];

const serviceNames = ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc'];

const leaves: Readonly<Record<string, Leaf>> = {
  'apiserver-proxy': client('aggregator-signer', 'system:kube-apiserver-proxy'),
  'kube-apiserver-internal-lb-server': server('kube-apiserver-lb-signer', {
    dnsNames: ['api-int.sno.lab.local'],
  }),
  'kube-apiserver-lb-server': server('kube-apiserver-lb-signer', {
    dnsNames: ['api.sno.lab.local'],
  }),
  'kube-apiserver-localhost-server': server('kube-apiserver-localhost-signer', {
    dnsNames: ['localhost'],
    ipAddresses: ['127.0.0.1', '::1'],
  }),
  'kube-apiserver-service-network-server': server('kube-apiserver-service-network-signer', {
    dnsNames: serviceNames,
    ipAddresses: ['172.30.0.1'],
  }),
  'kube-apiserver-to-kubelet-client': client(
    'kube-apiserver-to-kubelet-signer',
    'system:kube-apiserver',
  ),
  'kube-control-plane-kube-controller-manager-client': client(
    'kube-control-plane-signer',
    'system:kube-controller-manager',
  ),
  'machine-config-server': server('root-ca', {
    dnsNames: ['api-int.sno.lab.local', 'localhost'],
    ipAddresses: ['127.0.0.1'],
  }),
};

/**
 * Writes keys and certificates to `tls`, and to `auth` the kubeconfigs of an administrator: with
 * the API's name, and through loopback.
 */
export async function writeCredentials(folder: string): Promise<void> {
  const tls = (name: string, text: string) =>
    writeFile(join(folder, 'tls', name), text, { mode: 0o600 });
  const write = async (name: string, { certificate, key }: KeyPair) => {
    await tls(`${name}.crt`, certificate);
    await tls(`${name}.key`, key);
  };
  const authorities = new Map<string, KeyPair>();
  for (const name of signers) {
    const authority = await createAuthority(name);
    authorities.set(name, authority);
    await write(name, authority);
  }
  const authorityOf = (name: Signer) => authorities.get(name) ?? { certificate: '', key: '' };
  const bundleOf = (names: readonly Signer[]) =>
    names.map((name) => authorityOf(name).certificate).join('');
  for (const [name, parts] of Object.entries(bundles)) await tls(`${name}.crt`, bundleOf(parts));
  for (const [name, [signer, profile]] of Object.entries(leaves)) {
    await write(name, await issueLeaf(authorityOf(signer), profile));
  }
  const { privateKey, publicKey } = await createSigningKey();
  await tls('service-account.key', privateKey);
  await tls('service-account.pub', publicKey);
  const admin = await issueLeaf(authorityOf('admin-kubeconfig-signer'), {
    subject: { commonName: 'system:admin', organizations: [administrators] },
    usage: 'client',
  });
  const credentials = { kind: 'embedded', authority: bundleOf(serving), ...admin } as const;
  for (const [name, host] of [
    ['kubeconfig', 'api.sno.lab.local'],
    ['kubeconfig-loopback', 'localhost'],
  ] as const) {
    const parts = { server: `https://${host}:6443`, cluster: 'sno', user: 'admin', credentials };
    await writeFile(join(folder, 'auth', name), kubeconfig(parts), { mode: 0o600 });
  }
}
