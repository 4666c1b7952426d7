import { z } from 'zod';
import { type GatherHost, patient } from '../gather-host.ts';
import type { Source } from '../source.ts';
import type { Api } from './api.ts';
import { withEtcdOf } from './etcd-access.ts';
import { made } from './made.ts';
import { objectsIn, pages } from './object-list.ts';

/** Key prefixes of Secrets in etcd (Kubernetes, OpenShift), followed by NAMESPACE/NAME. */
const PREFIXES = ['/registry/secrets/', '/kubernetes.io/secrets/'];

/** Metadata only: an API server that does not support it returns nothing. */
const PARTIAL = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

/** Annotations whose values are dates, hosts and owners; of others, e.g. `token-secret.value`, only the key is kept. */
const HARMLESS =
  /^(auth\.openshift\.io\/certificate-.*|openshift\.io\/owning-component|kubernetes\.io\/service-account\.name)$/;

const metadataSchema = z.looseObject({
  metadata: z.looseObject({
    namespace: z.string(),
    name: z.string(),
    annotations: z.record(z.string(), z.string()).default({}),
  }),
});

const LIMITS_MS = 5000;

/**
 * The names of all Secrets, from etcd's keys: a keys-only range returns no values, and needs
 * neither a running API nor the right to list Secrets, which includes reading them.
 */
export function secretNames(host: GatherHost): Source {
  return made('resources/secrets-names.txt', (_, signal) =>
    withEtcdOf(host, async (client) => {
      const rows: string[] = [];
      for (const prefix of PREFIXES) {
        for await (const key of client.keysBelow(prefix, {
          signal,
          deadlineMs: patient(host, LIMITS_MS),
        })) {
          rows.push(row(key.slice(prefix.length).split('/')));
        }
      }
      return table(['NAMESPACE', 'NAME'], rows);
    }),
  );
}

/** Only through an administrator's API access: requests metadata and nothing else. */
export function secretAnnotations(api: Api): Source {
  return made('resources/secrets-names-with-annotations.txt', async (_, signal) => {
    const rows: string[] = [];
    const request = { path: '/api/v1/secrets', accept: PARTIAL };
    for await (const { metadata } of objectsIn(pages(api, request, signal), metadataSchema)) {
      const { namespace, name, annotations } = metadata;
      // There are many of them, all alike.
      if (/-(token|dockercfg)-/.test(name)) continue;
      rows.push(row([namespace, name, annotationsText(annotations)]));
    }
    return table(['NAMESPACE', 'NAME', 'ANNOTATIONS'], rows);
  });
}

function annotationsText(annotations: Readonly<Record<string, string>>): string {
  const all = Object.entries(annotations).map(([key, value]) =>
    HARMLESS.test(key) ? `${key}=${JSON.stringify(value)}` : key,
  );
  return all.join(' ') || '<none>';
}

const row = (columns: readonly string[]) => columns.join('\t');
const table = (head: readonly string[], rows: readonly string[]) =>
  [row(head), ...rows].map((line) => `${line}\n`).join('');
