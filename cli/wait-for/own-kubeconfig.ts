import { readFile } from 'node:fs/promises';
import { isMap, isSeq, parseDocument } from 'yaml';
import { z } from 'zod';
import { ADMINISTRATORS_GROUP } from '../../lib/kube/administrators.ts';
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
  const config = schema.parse(parseDocument(text).toJS());
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

/**
 * The same kubeconfig with another certificate and key of its current user, and another CA of its
 * cluster. Everything else in it stays, such as a namespace or comments.
 */
export function withCredentials(text: string, ca: string, { certificate, key }: KeyPair): string {
  const { context } = currentContext(text);
  const document = parseDocument(text);
  const base64 = (pem: string) => Buffer.from(pem).toString('base64');
  const at = (list: 'users' | 'clusters', name: string | undefined): number => {
    const entries = document.get(list);
    const found = isSeq(entries)
      ? entries.items.findIndex((item) => isMap(item) && item.get('name') === name)
      : -1;
    if (found < 0) throw new Error(`${list} ${name} not found`);
    return found;
  };
  const user = ['users', at('users', context?.user), 'user'];
  const cluster = ['clusters', at('clusters', context?.cluster), 'cluster'];
  document.setIn([...user, 'client-certificate-data'], base64(certificate));
  document.setIn([...user, 'client-key-data'], base64(key));
  document.deleteIn([...cluster, 'certificate-authority']);
  document.setIn([...cluster, 'certificate-authority-data'], base64(ca));
  return document.toString({ lineWidth: 0 });
}

export const readText = (path: string): Promise<string> => readFile(path, 'utf8');
