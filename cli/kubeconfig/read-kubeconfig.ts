import type { OutgoingHttpHeaders } from 'node:http';
import { dirname, resolve } from 'node:path';
import { getCACertificates } from 'node:tls';
// The package as a whole brings its programs for pods, which nothing here uses.
import { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import type { User } from '@kubernetes/client-node/dist/config_types.js';
import {
  type Access,
  type Credentials,
  currentEntries,
  parsedEntry,
  readMaterial,
  unusableKubeconfig,
} from '../../lib/clients/kube/kubeconfig.ts';
import { readGivenFile } from '../../lib/host/given-file.ts';
import { clusterEntrySchema, type UserEntry, userEntrySchema } from './entries.ts';
import { plugIn } from './plug-in.ts';
import { throughProxy } from './proxy.ts';

interface Options {
  readonly signal: AbortSignal;
  readonly now?: () => Date;
}

/** Under this name the library asks what `plugIn` gives. */
const PLUG_IN = 'plug-in';

/**
 * Reads a kubeconfig of a person as kubectl does: certificates, tokens, token files, credential plug-ins, OIDC,
 * impersonation, `proxy-url` and `tls-server-name`. The credentials are the library's to find; what it would ignore or
 * take otherwise than kubectl is judged or read here first (cli/README.md). Without an authority, those of this
 * machine count.
 * @throws Failure `usage` that names the file and the field, or what a plug-in said
 */
export async function readPersonsKubeconfig(
  path: string,
  { signal, now = () => new Date() }: Options,
): Promise<Access> {
  const text = await readGivenFile(path, 'The kubeconfig', { signal });
  try {
    const entries = currentEntries(text);
    const cluster = parsedEntry(
      clusterEntrySchema,
      entries.cluster.cluster,
      `cluster ${entries.cluster.name}`,
    );
    const user = parsedEntry(userEntrySchema, entries.user.user, `user ${entries.user.name}`);
    const folder = dirname(path);
    const ca =
      (await readMaterial(
        folder,
        cluster['certificate-authority-data'],
        cluster['certificate-authority'],
      )) ?? ownAuthorities();
    const config = new KubeConfig();
    const { name } = entries.cluster;
    config.loadFromClusterAndUser(
      { name, server: cluster.server, skipTLSVerify: false },
      { name: entries.user.name, ...(await credentialsOf(user, folder)) },
    );
    if (user.exec !== undefined) {
      const ask = plugIn(user.exec, { kubeconfig: path, entry: cluster, ca }, { signal, now });
      config.addAuthenticator(authenticator(ask));
    }
    const renewed = () => presented(config);
    const proxy = cluster['proxy-url'];
    return {
      server: new URL(cluster.server),
      ca,
      serverName: cluster['tls-server-name'],
      actingFor: actingFor(user),
      connections: proxy === undefined ? undefined : throughProxy(proxy),
      ...(await renewed()),
      renewed: isFixed(user) ? undefined : renewed,
    };
  } catch (error) {
    signal.throwIfAborted();
    throw unusableKubeconfig(path, error);
  }
}

/** Files are read here, since the library reads them anew and synchronously for each request. */
async function credentialsOf(user: UserEntry, folder: string): Promise<Omit<User, 'name'>> {
  const material = async (data: string | undefined, file: string | undefined) => {
    const text = await readMaterial(folder, data, file);
    return text === undefined ? undefined : Buffer.from(text).toString('base64');
  };
  const certData = await material(user['client-certificate-data'], user['client-certificate']);
  const keyData = await material(user['client-key-data'], user['client-key']);
  const token = user.token?.trim();
  const authProvider = providerOf(user, folder);
  return {
    ...(certData === undefined ? {} : { certData }),
    ...(keyData === undefined ? {} : { keyData }),
    ...(token === undefined ? {} : { token }),
    ...(authProvider === undefined ? {} : { authProvider }),
  };
}

/**
 * Which of the library's providers finds the token. OIDC gets no refresh token: an issuer may accept it once only,
 * and the library does not write the next one back, so the person would have to log in again.
 */
function providerOf(user: UserEntry, folder: string): object | undefined {
  if (user.exec !== undefined) return { name: PLUG_IN };
  const oidc = user['auth-provider'];
  if (oidc !== undefined) {
    return { name: oidc.name, config: { 'id-token': oidc.config['id-token'] } };
  }
  if (user.tokenFile === undefined || user.token !== undefined) return undefined;
  return { name: 'tokenFile', config: { tokenFile: resolve(folder, user.tokenFile) } };
}

/** The library's own runs plug-ins without a deadline and without KUBERNETES_EXEC_INFO, which most of them need. */
function authenticator(
  ask: () => Promise<Credentials>,
): Parameters<KubeConfig['addAuthenticator']>[0] {
  return {
    isAuthProvider: ({ authProvider }) => authProvider?.name === PLUG_IN,
    async applyAuthentication(_user, options) {
      const { token, certificate, key } = await ask();
      if (token !== undefined) options.headers = { Authorization: `Bearer ${token}` };
      if (certificate !== undefined) Object.assign(options, { cert: certificate, key });
    },
  };
}

/** @throws Error if the person has to log in first */
async function presented(config: KubeConfig): Promise<Credentials> {
  const options: { headers: OutgoingHttpHeaders; cert?: string | Buffer; key?: string | Buffer } = {
    headers: {},
  };
  await config.applyToHTTPSOptions(options);
  const { cert, key, headers } = options;
  const [, token] = /^Bearer\s+(.*\S)/.exec(String(headers.Authorization)) ?? [];
  const user = config.getCurrentUser();
  if (token === undefined && user?.authProvider?.name === 'oidc') {
    throw new Error(
      `user ${user.name}: its id-token has ended: run "kubectl version" with this kubeconfig, which renews it`,
    );
  }
  return { certificate: cert?.toString(), key: key?.toString(), token };
}

/** Whether the credentials stay as they are while they are used. */
const isFixed = ({ exec, tokenFile, token, 'auth-provider': oidc }: UserEntry): boolean =>
  exec === undefined && oidc === undefined && (tokenFile === undefined || token !== undefined);

function actingFor(user: UserEntry): Access['actingFor'] {
  if (user.as === undefined) return undefined;
  return {
    user: user.as,
    groups: user['as-groups'] ?? [],
    uid: user['as-uid'],
    extra: user['as-user-extra'] ?? {},
  };
}

/** PEM: those that Node knows, which are Mozilla's, and those of this machine. */
function ownAuthorities(): string {
  return [...new Set([...getCACertificates('default'), ...getCACertificates('system')])].join('\n');
}
