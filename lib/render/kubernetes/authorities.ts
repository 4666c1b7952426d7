import {
  createAuthority,
  type KeyPair,
  mayCertifyAuthorities,
  type Successor,
  succeed,
} from '../../pki/authority.ts';
import { validityOf } from '../../pki/certificate.ts';
import type { RenderedFile } from '../renderer.ts';
import { keyFile, publicFile } from './files.ts';
import { paths } from './paths.ts';

/**
 * One authority for each relying party, so that a certificate for one is worthless to another:
 * - etcd: etcd's server, peer and clients; such a client has full access to all data;
 * - serving: the API server's certificate;
 * - front-proxy: the API server as a proxy to aggregated APIs, which may name any user;
 * - kubelet-client: nodes' identities (signer kube-apiserver-client-kubelet);
 * - kubelet-serving: the kubelets' serving certificates (signer kubelet-serving);
 * - admin: administrators, control plane components and agents (signer kube-apiserver-client);
 * - legacy-unknown: the signer of that name, which Kubernetes gives no meaning and which
 *   checks nothing. The controller-manager starts every signer or skips it with a log line;
 *   this one gets an authority that nothing trusts.
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
/** `cross`: what a server presents behind its certificate, for clients that know only the authority of the laptop. */
export type Authorities = Readonly<Record<AuthorityName, Successor>>;

/** Folder and files of an authority. A container that signs mounts the folder. */
export function authorityPaths(name: AuthorityName) {
  const folder = `${paths.authorities}/${name}`;
  return { folder, certificate: `${folder}/ca.crt`, key: `${folder}/ca.key` } as const;
}

/**
 * The certificate of the authority that signed the first kubeconfig, on the laptop. The API server
 * trusts it too, until the kubeconfig is exchanged or the authority `admin` is replaced; then this
 * file is deleted. It has no key here.
 */
export const laptopAdminCa = `${paths.authorities}/laptop-admin/ca.crt`;

/** Whether that is the common name of this authority, or of one that has replaced it (createSuccessor). */
export const isNameOf = (authority: AuthorityName, commonName: string): boolean =>
  commonName.replace(/@\d+$/, '') === nameOf(authority);

const nameOf = (authority: AuthorityName): string => `${authority}-ca`;

/**
 * A copy of the serving authority of a lost host, whose key came with its backup. While it is the serving
 * authority, whoever has that disk, or the Ignition config with the backup, is trusted as the API server.
 */
export const mediumServingCa = `${paths.authorities}/medium-serving/ca.crt`;

/**
 * Creates the host's own authorities. All are valid from the same time, since the clock of a new host
 * may be fast. The key that `sno create` made is on the medium, and on copies of it: it only certifies
 * the serving authority, for the kubeconfig on the laptop until that is exchanged.
 */
export async function createAuthorities(medium: KeyPair): Promise<Authorities> {
  const { notBefore } = validityOf(medium.certificate);
  const now = new Date();
  const time = { now, validFrom: notBefore };
  const serving = await ownServing(medium, now);
  const create = (name: AuthorityName) => createAuthority(nameOf(name), time);
  const [etcd, frontProxy, kubeletClient, kubeletServing, admin, legacyUnknown] = await Promise.all(
    [
      create('etcd'),
      create('front-proxy'),
      create('kubelet-client'),
      create('kubelet-serving'),
      create('admin'),
      create('legacy-unknown'),
    ],
  );
  return {
    etcd,
    serving,
    'front-proxy': frontProxy,
    'kubelet-client': kubeletClient,
    'kubelet-serving': kubeletServing,
    admin,
    'legacy-unknown': legacyUnknown,
  };
}

/** By an earlier release, or of a lost host, it may be one that cannot certify another. */
export const ownServing = async (given: KeyPair, now: Date): Promise<Successor> =>
  mayCertifyAuthorities(given.certificate) ? succeed(given, now) : given;

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
 * The authorities of the API server's clients: nodes and administrators. Never the serving
 * authority: a server's certificate must not authenticate a client.
 */
export function clientBundle(authorities: Authorities): string {
  return authorities['kubelet-client'].certificate + authorities.admin.certificate;
}
