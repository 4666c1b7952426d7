import { writeGoYaml } from '../base/go-yaml/write.ts';
import { createLaptopAuthorities, type KeyPair } from './authority.ts';
import { issueLeaf } from './leaf.ts';
import { lifetimes } from './lifetimes.ts';

export interface KubeconfigOptions {
  /** https://host:port */
  server: string;
  cluster: string;
  user: string;
  /**
   * `files`: paths, so that renewing a certificate only rewrites its file.
   * `embedded`: PEM texts, for a kubeconfig that people receive.
   * `own-key`: PEM texts, and the path of the key that its owner has and nobody else.
   */
  credentials: {
    kind: 'files' | 'embedded' | 'own-key';
    authority: string;
    certificate: string;
    key: string;
  };
}

/** The text of a kubeconfig with a bearer token, and the path of the CA. */
export function tokenKubeconfig(
  { server, cluster, user }: Omit<KubeconfigOptions, 'credentials'>,
  { authority, token }: { readonly authority: string; readonly token: string },
): string {
  return document({ server, cluster, user }, byPath('certificate-authority', authority), { token });
}

const byPath = (name: string, path: string) => ({ [name]: path });
const byText = (name: string, pem: string) => ({
  [`${name}-data`]: Buffer.from(pem).toString('base64'),
});

/** How the fields of a kubeconfig are given. */
const FORMS = {
  files: { field: byPath, keyField: byPath },
  embedded: { field: byText, keyField: byText },
  'own-key': { field: byText, keyField: byPath },
} as const;

/** The text of a kubeconfig with one cluster, one user and one context. */
export function kubeconfig({ server, cluster, user, credentials }: KubeconfigOptions): string {
  const { kind, authority, certificate, key } = credentials;
  const { field, keyField } = FORMS[kind];
  return document({ server, cluster, user }, field('certificate-authority', authority), {
    ...field('client-certificate', certificate),
    ...keyField('client-key', key),
  });
}

function document(
  { server, cluster, user }: Omit<KubeconfigOptions, 'credentials'>,
  authority: object,
  credentials: object,
): string {
  return writeGoYaml({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: cluster, cluster: { server, ...authority } }],
    users: [{ name: user, user: credentials }],
    contexts: [{ name: user, context: { cluster, user } }],
    'current-context': user,
  });
}

/** The group that the API server authorizes for everything. */
export const administrators = 'system:masters';

/** What `sno create` makes for one installation. */
export interface LaptopCredentials {
  /** What the host needs of them: it never gets the key of `adminCa`. */
  readonly authorities: {
    readonly servingCa: KeyPair;
    readonly adminCa: Pick<KeyPair, 'certificate'>;
  };
  /** Text of `auth/kubeconfig`. */
  readonly kubeconfig: string;
}

/**
 * Creates the authorities of an installation and the kubeconfig of its first administrator. The key
 * that signed that is not kept: nobody can sign another one.
 *
 * @param domain as for adminKubeconfig.
 * @param serving the authority of the API server, if there is one already: of a lost host.
 * @param alsoTrusted PEM: of a certificate of the API that it has not signed.
 */
export async function createLaptopCredentials(
  domain: string,
  cluster: string,
  { serving, alsoTrusted = '' }: { serving?: KeyPair | undefined; alsoTrusted?: string } = {},
): Promise<LaptopCredentials> {
  const now = new Date();
  const { adminCa, ...created } = await createLaptopAuthorities(now);
  const servingCa = serving ?? created.servingCa;
  const trusted = { certificate: servingCa.certificate + alsoTrusted };
  return {
    authorities: { servingCa, adminCa: { certificate: adminCa.certificate } },
    kubeconfig: await adminKubeconfig(domain, cluster, { servingCa: trusted, adminCa }, now),
  };
}

/**
 * The kubeconfig that `sno create` writes to `auth/kubeconfig`, with the key embedded.
 *
 * @param domain `<name>.<baseDomain>` of the cluster; the API answers at `api.<domain>`.
 */
export async function adminKubeconfig(
  domain: string,
  cluster: string,
  { servingCa, adminCa }: { servingCa: Pick<KeyPair, 'certificate'>; adminCa: KeyPair },
  now: Date,
): Promise<string> {
  const admin = await issueLeaf(
    adminCa,
    {
      subject: { commonName: 'system:admin', organizations: [administrators] },
      usage: 'client',
      // An installation may begin years later. The host trusts it until it is exchanged.
      lifetimeDays: lifetimes.authorityDays,
    },
    { now, validFrom: now },
  );
  return kubeconfig({
    server: `https://api.${domain}:6443`,
    cluster,
    user: 'admin',
    credentials: { kind: 'embedded', authority: servingCa.certificate, ...admin },
  });
}
