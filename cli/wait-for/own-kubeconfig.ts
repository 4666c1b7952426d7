import { readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { parseDocument } from 'yaml';
import { z } from 'zod';
import { readGoYaml } from '../../lib/base/go-yaml/read.ts';
import { writeGoYaml } from '../../lib/base/go-yaml/write.ts';
import { ADMINISTRATORS_GROUP } from '../../lib/clients/kube/administrators.ts';
import { type KeyPair, LAPTOP_ADMIN_CA } from '../../lib/pki/authority.ts';
import { inspectCertificate } from '../../lib/pki/certificate.ts';

/** What the certificate of a kubeconfig's current user is. */
export type Standing =
  /** Not one of `sno`: a token, a certificate in a file, or one that somebody else signed. */
  | { readonly kind: 'foreign' }
  /** Signed by `sno create`. */
  | { readonly kind: 'first' }
  /** Signed by the cluster for `sno`. `isDue`: in the last third of its lifetime. */
  | {
      readonly kind: 'exchanged';
      readonly isDue: boolean;
      readonly renewableFrom: Date;
      readonly notAfter: Date;
    };

/** What is read of a kubeconfig here; readKubeconfig has checked it. */
const schema = z.object({
  'current-context': z.string(),
  contexts: z.array(
    z.object({ name: z.string(), context: z.object({ cluster: z.string(), user: z.string() }) }),
  ),
  users: z.array(
    z.object({
      name: z.string(),
      user: z.object({
        'client-certificate-data': z.base64().optional(),
        'client-key-data': z.base64().optional(),
      }),
    }),
  ),
});

function currentContext(text: string) {
  const config = schema.parse(readGoYaml(text));
  const current = config.contexts.find(({ name }) => name === config['current-context']);
  return { config, context: current?.context };
}

export function standingOf(text: string, now: Date): Standing {
  const { config, context } = currentContext(text);
  const user = config.users.find(({ name }) => name === context?.user)?.user;
  const data = user?.['client-certificate-data'];
  if (data === undefined || user?.['client-key-data'] === undefined) return { kind: 'foreign' };
  return standingOfCertificate(Buffer.from(data, 'base64').toString(), now);
}

function standingOfCertificate(pem: string, now: Date): Standing {
  const { issuer, subject, notBefore, notAfter } = inspectCertificate(pem);
  if (issuer.commonName === LAPTOP_ADMIN_CA) return { kind: 'first' };
  if (!subject.organizations.includes(ADMINISTRATORS_GROUP)) return { kind: 'foreign' };
  const lifetimeMs = notAfter.getTime() - notBefore.getTime();
  const renewableFrom = new Date(notAfter.getTime() - lifetimeMs / 3);
  return { kind: 'exchanged', isDue: now >= renewableFrom, renewableFrom, notAfter };
}

const changeable = z.looseObject({
  users: z.array(z.looseObject({ name: z.string(), user: z.looseObject({}) })),
  clusters: z.array(z.looseObject({ name: z.string(), cluster: z.looseObject({}) })),
});

/**
 * The same kubeconfig with another certificate and key of its current user, and another CA of its
 * cluster. Everything else in it stays, such as a namespace or comments.
 *
 * @throws Error if the user or cluster of its current context is missing
 */
export function withCredentials(text: string, ca: string, { certificate, key }: KeyPair): string {
  const { context } = currentContext(text);
  const config = changeable.parse(readGoYaml(text));
  const user = config.users.findIndex(({ name }) => name === context?.user);
  const cluster = config.clusters.findIndex(({ name }) => name === context?.cluster);
  const [ownUser, ownCluster] = [config.users[user], config.clusters[cluster]];
  if (ownUser === undefined) throw new Error(`users ${context?.user} not found`);
  if (ownCluster === undefined) throw new Error(`clusters ${context?.cluster} not found`);
  const base64 = (pem: string) => Buffer.from(pem).toString('base64');
  const document = parseDocument(text);
  const set = (
    entry: Record<string, unknown>,
    path: readonly unknown[],
    field: string,
    pem: string,
  ) => {
    entry[field] = base64(pem);
    document.setIn([...path, field], base64(pem));
  };
  set(ownUser.user, ['users', user, 'user'], 'client-certificate-data', certificate);
  set(ownUser.user, ['users', user, 'user'], 'client-key-data', key);
  delete ownCluster.cluster['certificate-authority'];
  document.deleteIn(['clusters', cluster, 'cluster', 'certificate-authority']);
  set(ownCluster.cluster, ['clusters', cluster, 'cluster'], 'certificate-authority-data', ca);
  const commented = document.toString({ lineWidth: 0 });
  // Comments are kept unless Go would read the text with them in another way.
  return readsAs(commented, config) ? commented : writeGoYaml(config);
}

function readsAs(text: string, expected: unknown): boolean {
  try {
    return isDeepStrictEqual(readGoYaml(text), expected);
  } catch {
    return false;
  }
}

export const readText = (path: string): Promise<string> => readFile(path, 'utf8');
