import { canonicalAddress, isAddress } from '../../base/network/address.ts';
import { deferredUser } from '../../clients/rights/deferred.ts';
import { clusterDomain } from '../../config/cluster/cluster.ts';
import type { KeyPair, Successor } from '../../pki/authority.ts';
import { validityOf } from '../../pki/certificate.ts';
import { administrators } from '../../pki/kubeconfig.ts';
import { issueLeaf, type LeafProfile } from '../../pki/leaf.ts';
import type { FileUse } from '../hosts.ts';
import type { KeylessInput, RenderedFile, RenderInput } from '../renderer.ts';
import { apiServiceIps } from './addresses.ts';
import type { Authorities, AuthorityName } from './authorities.ts';
import { keyFile, publicFile } from './files.ts';
import { paths } from './paths.ts';

/** Where a leaf is and which authority signs it: all that is needed to renew it. */
export interface Leaf {
  name: string;
  /** PEM file with the certificate. */
  certificate: string;
  /** PEM file with the key; the same as `certificate` where both are in one file. */
  key: string;
  /** Its files: authorityPaths(authority). */
  authority: AuthorityName;
}

interface IssuedLeaf extends Leaf {
  subject: LeafProfile['subject'];
  usage: LeafProfile['usage'];
  names?: (input: KeylessInput) => Pick<LeafProfile, 'dnsNames' | 'ipAddresses'>;
  /** Set when only the bootstrap needs it: why. */
  leftover?: string;
  /** Default: the control plane's. */
  uses?: readonly FileUse[];
  /** Default: always. */
  when?: (input: RenderInput) => boolean;
}

/** User names in RBAC and the authorizers. */
export const users = {
  csrApprover: 'sno-agents:csr-approver',
  kubeletClient: 'kube-apiserver-kubelet-client',
} as const;

/** Why the bootstrap's administrator exists; recorded with each of its files. */
export const bootstrapAdminPurpose =
  'the agents administer the cluster with it until the installation has ended';

/** Why the live host has an identity of the approver; on other hosts it is signed in memory. */
export const csrApproverPurpose = 'approve-csr watches requests with it on the live host';

/** Files of the leaf with this name in a folder. */
function at(folder: string, name: string): Pick<Leaf, 'certificate' | 'key'> {
  return { certificate: `${folder}/${name}.crt`, key: `${folder}/${name}.key` };
}

const loopbackIps = ['127.0.0.1', '::1'];
const loopback = () => ({ dnsNames: ['localhost'], ipAddresses: loopbackIps });

/** The leaves that rendering issues, by their purpose. */
export const issuedLeaves = {
  etcdServer: {
    name: 'etcd-server',
    ...at(paths.pkiOf('etcd'), 'server'),
    authority: 'etcd',
    subject: { commonName: 'etcd-server' },
    usage: 'server',
    names: loopback,
  },
  etcdPeer: {
    name: 'etcd-peer',
    ...at(paths.pkiOf('etcd'), 'peer'),
    authority: 'etcd',
    subject: { commonName: 'etcd-peer' },
    usage: 'both',
    names: loopback,
  },
  apiServerEtcdClient: {
    name: 'kube-apiserver-etcd-client',
    ...at(paths.pkiOf('kube-apiserver'), 'etcd-client'),
    authority: 'etcd',
    subject: { commonName: 'kube-apiserver-etcd-client' },
    usage: 'client',
  },
  agentsEtcdClient: {
    name: 'sno-agents-etcd-client',
    ...at(paths.agents, 'etcd-client'),
    authority: 'etcd',
    subject: { commonName: 'sno-agents:etcd' },
    usage: 'client',
    // Full access to all data: only a host whose agents call etcd gets it.
    uses: ['etcd-access'],
  },
  apiServerServing: {
    name: 'kube-apiserver-serving',
    ...at(paths.pkiOf('kube-apiserver'), 'serving'),
    authority: 'serving',
    subject: { commonName: 'kube-apiserver' },
    usage: 'server',
    names: apiServerNames,
  },
  apiServerKubeletClient: {
    name: 'kube-apiserver-kubelet-client',
    ...at(paths.pkiOf('kube-apiserver'), 'kubelet-client'),
    authority: 'admin',
    subject: { commonName: users.kubeletClient },
    usage: 'client',
  },
  frontProxyClient: {
    name: 'front-proxy-client',
    ...at(paths.pkiOf('kube-apiserver'), 'front-proxy-client'),
    authority: 'front-proxy',
    subject: { commonName: 'front-proxy-client' },
    usage: 'client',
  },
  controllerManager: {
    name: 'kube-controller-manager',
    ...at(paths.pkiOf('kube-controller-manager'), 'client'),
    authority: 'admin',
    subject: { commonName: 'system:kube-controller-manager' },
    usage: 'client',
  },
  scheduler: {
    name: 'kube-scheduler',
    ...at(paths.pkiOf('kube-scheduler'), 'client'),
    authority: 'admin',
    subject: { commonName: 'system:kube-scheduler' },
    usage: 'client',
  },
  csrApprover: {
    name: 'csr-approver',
    ...at(paths.agents, 'csr-approver'),
    authority: 'admin',
    subject: { commonName: users.csrApprover },
    usage: 'client',
    uses: ['csr-approval'],
    leftover: csrApproverPurpose,
  },
  deferred: {
    name: 'deferred',
    ...at(paths.agents, 'deferred'),
    authority: 'admin',
    subject: { commonName: deferredUser },
    usage: 'client',
    uses: ['deferred-manifests'],
    when: hasDeferred,
  },
  bootstrapAdmin: {
    name: 'bootstrap-admin',
    ...at(paths.agents, 'bootstrap-admin'),
    authority: 'admin',
    subject: { commonName: 'sno-agents:bootstrap-admin', organizations: [administrators] },
    usage: 'client',
    uses: ['bootstrap'],
    leftover: bootstrapAdminPurpose,
  },
} as const satisfies Record<string, IssuedLeaf>;

export type LeafName = (typeof issuedLeaves)[keyof typeof issuedLeaves]['name'];

/** The kubelet's identity: issued and rotated elsewhere, certificate and key in one file. */
const kubeletClient = {
  name: 'kubelet-client',
  certificate: paths.kubeletClientPair,
  key: paths.kubeletClientPair,
  authority: 'kubelet-client',
} as const satisfies Leaf;

const kubeletServing = {
  name: 'kubelet-serving',
  certificate: paths.kubeletServingPair,
  key: paths.kubeletServingPair,
  authority: 'kubelet-serving',
} as const satisfies Leaf;

/**
 * Every leaf that can expire while the host is off and that nothing renews before the API is
 * up. It is a constant: renewing them needs the files and nothing that rendering recorded. A
 * leaf whose file does not exist (the bootstrap's, after the cleanup) is not renewed.
 * `kubelet-client-current.pem` is a symlink to a dated file. The kubelet's serving certificate
 * is not included: the kubelet requests a new one by itself.
 */
export const leafCatalogue: readonly Leaf[] = [...Object.values(issuedLeaves), kubeletClient].map(
  ({ name, certificate, key, authority }) => ({ name, certificate, key, authority }),
);

/** A leaf that stays on the host and whose user reads it again without a restart. */
export interface RenewableLeaf extends Leaf {
  name: LeafName;
}

/** The leaves that are renewed on a running host: not the bootstrap's, nor those that the kubelet rotates. */
export const renewableLeaves: readonly RenewableLeaf[] = Object.values(issuedLeaves)
  .filter((leaf) => !('leftover' in leaf))
  .map(({ name, certificate, key, authority }) => ({ name, certificate, key, authority }));

/** A leaf that gets another authority when that is replaced. */
export interface RotatableLeaf extends Leaf {
  name: LeafName | 'kubelet-client' | 'kubelet-serving';
}

/** Every leaf that stays on the host. */
export const rotatableLeaves: readonly RotatableLeaf[] = [
  ...renewableLeaves,
  kubeletClient,
  kubeletServing,
];

/** The kubelet's own, which it rotates itself. */
export const kubeletLeaves: readonly RotatableLeaf[] = [kubeletClient, kubeletServing];

/** Whether an agent applies manifests after the installation, under its own identity. */
export function hasDeferred({ deferredGroups }: KeylessInput): boolean {
  return deferredGroups.length > 0;
}

/** Issues every leaf that is needed and returns its two files. */
export async function leafFiles(
  input: RenderInput,
  authorities: Authorities,
): Promise<RenderedFile[]> {
  const all: IssuedLeaf[] = Object.values(issuedLeaves);
  const leaves = all.filter(({ when }) => when?.(input) ?? true);
  const files = await Promise.all(
    leaves.map((leaf) => filesOf(leaf, input, authorities[leaf.authority])),
  );
  return files.flat();
}

/** The only leaf that names the host, its addresses and the domain of its cluster, issued anew. */
export const servingLeafFiles = (input: KeylessInput, serving: KeyPair): Promise<RenderedFile[]> =>
  filesOf(issuedLeaves.apiServerServing, input, serving);

/** The client certificate of the agent of deferred manifests, issued anew. */
export const deferredLeafFiles = (input: KeylessInput, admin: KeyPair): Promise<RenderedFile[]> =>
  filesOf(issuedLeaves.deferred, input, admin);

async function filesOf(
  { subject, usage, names, leftover, uses = ['control-plane'], when: _when, ...leaf }: IssuedLeaf,
  input: KeylessInput,
  authority: Successor,
): Promise<RenderedFile[]> {
  // Like its authority: the clock of a new host, or of one that was moved, may be fast.
  const time = { now: new Date(), validFrom: validityOf(authority.certificate).notBefore };
  const pair = await issueLeaf(authority, { subject, usage, ...names?.(input) }, time);
  const keyClass = leftover === undefined ? 'permanent' : 'gone';
  const options = leftover === undefined ? { uses } : { uses, leftover };
  const chain = usage === 'client' ? '' : (authority.cross ?? '');
  return [
    publicFile(leaf.certificate, pair.certificate + chain, options),
    keyFile(leaf.key, pair.key, keyClass, options),
  ];
}

function apiServerNames({ cluster, host }: KeylessInput) {
  const domain = clusterDomain(cluster);
  const dnsNames = [
    `api.${domain}`,
    `api-int.${domain}`,
    'kubernetes',
    'kubernetes.default',
    'kubernetes.default.svc',
    'kubernetes.default.svc.cluster.local',
    'localhost',
    host.hostname,
  ];
  const further = Map.groupBy(cluster.apiNames ?? [], (name) =>
    isAddress(name) ? 'address' : 'name',
  );
  const addresses = (further.get('address') ?? []).map(canonicalAddress);
  return {
    dnsNames: [...new Set([...dnsNames, ...(further.get('name') ?? [])])],
    ipAddresses: [
      ...new Set([...loopbackIps, ...host.nodeIps, ...apiServiceIps(cluster), ...addresses]),
    ],
  };
}
