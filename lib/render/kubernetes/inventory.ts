import type { InventoryEntry } from '../../pki/inventory.ts';
import { authorityNames, authorityPaths, laptopAdminCa } from './authorities.ts';
import { encryptionConfigPath } from './encryption.ts';
import { signers } from './kube-controller-manager.ts';
import { kubeletPaths } from './kubelet.ts';
import { issuedLeaves, type LeafName } from './leaves.ts';
import { serviceAccount } from './service-account.ts';
import { siteCertificate } from './site-certificate.ts';
import { trustFiles } from './trust.ts';

const apiServer = 'kube-apiserver';
const controllerManager = 'kube-controller-manager';
const scheduler = 'kube-scheduler';
const agents = 'sno-agents';

/**
 * The program that presents each leaf. All of them read certificate and key again without a
 * restart: etcd for each handshake (client/pkg/transport/listener.go), the API server when the
 * file changes (dynamiccertificates), clients within five minutes (client-go, cert_rotation.go).
 * Agents read them at each start.
 */
const USERS: Readonly<Record<LeafName, string>> = {
  'etcd-server': 'etcd',
  'etcd-peer': 'etcd',
  'kube-apiserver-etcd-client': apiServer,
  'sno-agents-etcd-client': agents,
  'kube-apiserver-serving': apiServer,
  'kube-apiserver-kubelet-client': apiServer,
  'front-proxy-client': apiServer,
  'kube-controller-manager': controllerManager,
  'kube-scheduler': scheduler,
  'csr-approver': agents,
  deferred: agents,
  'bootstrap-admin': agents,
};

const leaves = Object.values(issuedLeaves).flatMap(
  ({ name, certificate, key, authority, ...leaf }): InventoryEntry[] => {
    const common = { name, usedBy: [USERS[name]], takeUp: 'itself' } as const;
    const renewedBy = 'leftover' in leaf ? 'nobody' : 'sno-renew';
    return [
      { ...common, path: certificate, kind: 'leaf', signer: authority, renewedBy },
      { ...common, path: key, kind: 'private-key', renewedBy: 'nobody' },
    ];
  },
);

/** The kubelet requests both anew and uses the new ones at once. */
const kubelet: readonly InventoryEntry[] = [
  {
    name: 'kubelet-client',
    path: kubeletPaths.clientPair,
    kind: 'leaf-with-key',
    signer: 'kubelet-client',
    usedBy: ['kubelet'],
    renewedBy: 'kubelet',
    takeUp: 'itself',
  },
  {
    name: 'kubelet-serving',
    path: kubeletPaths.servingPair,
    kind: 'leaf-with-key',
    signer: 'kubelet-serving',
    usedBy: ['kubelet'],
    renewedBy: 'kubelet',
    takeUp: 'itself',
  },
];

/** The controller-manager reads those that it signs with again. */
const authorities = authorityNames.flatMap((name): InventoryEntry[] => {
  const { certificate, key } = authorityPaths(name);
  const isSigner = Object.values(signers).some((signer) => signer === name);
  const usedBy = isSigner ? [controllerManager, agents] : [agents];
  const common = { name: `${name}-ca`, usedBy, renewedBy: 'nobody', takeUp: 'itself' } as const;
  return [
    { ...common, path: certificate, kind: 'authority' },
    { ...common, path: key, kind: 'private-key' },
  ];
});

/** Trusted until the first kubeconfig is exchanged: the API server's bundle includes it. */
const laptop: InventoryEntry = {
  name: 'laptop-admin-ca',
  path: laptopAdminCa,
  kind: 'authority',
  usedBy: [apiServer],
  renewedBy: 'nobody',
  takeUp: 'itself',
};

const site = {
  name: 'site-api',
  usedBy: [apiServer],
  renewedBy: 'nobody',
  takeUp: 'itself',
} as const;

/** Only at a site that gave them. The API server reads both again when they change. */
const ofSite: readonly InventoryEntry[] = [
  { ...site, path: siteCertificate.certificate, kind: 'leaf' },
  { ...site, path: siteCertificate.key, kind: 'private-key' },
];

const trusted: readonly InventoryEntry[] = trustFiles.map(({ name, path, user, takeUp }) => ({
  name,
  path,
  kind: 'trust',
  usedBy: [user],
  renewedBy: 'nobody',
  takeUp,
}));

/** Keys without a certificate, each read once. */
const keys: readonly InventoryEntry[] = [
  key('service-account', serviceAccount.privateKey, 'private-key', [apiServer, controllerManager]),
  key('service-account', serviceAccount.publicKey, 'public-key', [apiServer]),
  key('encryption', encryptionConfigPath, 'symmetric-key', [apiServer]),
];

/**
 * Every certificate and key of a host of this control plane, present or not: which of them exist
 * depends on the host (lib/render/hosts.ts) and on the cluster.
 */
export const inventory: readonly InventoryEntry[] = [
  ...leaves,
  ...kubelet,
  ...authorities,
  laptop,
  ...ofSite,
  ...trusted,
  ...keys,
];

function key(
  name: string,
  path: string,
  kind: 'private-key' | 'public-key' | 'symmetric-key',
  usedBy: readonly string[],
): InventoryEntry {
  return { name, path, kind, usedBy, renewedBy: 'nobody', takeUp: 'pod-restart' };
}
