import { createAuthority, type KeyPair } from '../../pki/authority.ts';
import type { LaptopAuthorities, RenderedFile } from '../renderer.ts';
import { keyFile, publicFile } from './files.ts';
import { paths } from './paths.ts';

/**
 * One authority for each thing that trusts, so that what one signs is worth nothing
 * to another:
 * - etcd: etcd's server, its peer and its clients; whoever has such a client owns all data;
 * - serving: what the API server shows;
 * - front-proxy: the API server as a proxy to aggregated APIs, which may name any user;
 * - kubelet-client: nodes' identities (signer kube-apiserver-client-kubelet);
 * - kubelet-serving: what kubelets show (signer kubelet-serving);
 * - admin: administrators, control plane components and agents (signer kube-apiserver-client);
 * - legacy-unknown: the signer of that name, about which Kubernetes promises nothing
 *   and which checks nothing. The controller-manager starts every signer or skips it
 *   with a log line; this one gets an authority that nobody trusts.
 */
export const authorityNames = [
  'etcd',
  'serving',
  'front-proxy',
  'kubelet-client',
  'kubelet-serving',
  'admin',
  'legacy-unknown',
] as const;

export type AuthorityName = (typeof authorityNames)[number];
export type Authorities = Readonly<Record<AuthorityName, KeyPair>>;

/** Folder and files of an authority; the folder is what a container that signs mounts. */
export function authorityPaths(name: AuthorityName) {
  const folder = `${paths.authorities}/${name}`;
  return { folder, certificate: `${folder}/ca.crt`, key: `${folder}/ca.key` } as const;
}

/** Makes the authorities that belong to the host and adds those that `sno create` made. */
export async function createAuthorities(given: LaptopAuthorities): Promise<Authorities> {
  const create = (name: AuthorityName) => createAuthority(`${name}-ca`);
  const [etcd, frontProxy, kubeletClient, kubeletServing, legacyUnknown] = await Promise.all([
    create('etcd'),
    create('front-proxy'),
    create('kubelet-client'),
    create('kubelet-serving'),
    create('legacy-unknown'),
  ]);
  return {
    etcd,
    serving: given.servingCa,
    'front-proxy': frontProxy,
    'kubelet-client': kubeletClient,
    'kubelet-serving': kubeletServing,
    admin: given.adminCa,
    'legacy-unknown': legacyUnknown,
  };
}

export function authorityFiles(authorities: Authorities): RenderedFile[] {
  return authorityNames.flatMap((name) => {
    const { certificate, key } = authorityPaths(name);
    return [
      publicFile(certificate, authorities[name].certificate),
      keyFile(key, authorities[name].key, 'permanent'),
    ];
  });
}

/**
 * Whose clients the API server knows: nodes and administrators. Never the serving
 * authority: a server's certificate must not log anybody in.
 */
export function clientBundle(authorities: Authorities): string {
  return authorities['kubelet-client'].certificate + authorities.admin.certificate;
}
