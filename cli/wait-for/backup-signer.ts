import { X509Certificate } from 'node:crypto';
import { dirname, join } from 'node:path';
import { describeError, Failure } from '../../lib/base/errors/failure.ts';
import type { BackupSigner } from '../../lib/change/backup/portable/author.ts';
import { KubeClient } from '../../lib/clients/kube/client.ts';
import {
  installationStatusSchema,
  STATUS_NAME,
  STATUS_NAMESPACE,
} from '../../lib/clients/kube/installation-status.ts';
import type { Access } from '../../lib/clients/kube/kubeconfig.ts';
import { resources } from '../../lib/clients/kube/resources.ts';
import { watchUntil } from '../../lib/clients/kube/watch-objects.ts';
import { readTextIfPresent, writeFileAtomic } from '../../lib/host/files.ts';
import { certificatesIn, inspectCertificate } from '../../lib/pki/certificate.ts';
import { isNameOf } from '../../lib/render/kubernetes/authorities.ts';
import { readPersonsKubeconfig } from '../kubeconfig/read-kubeconfig.ts';

/** Beside a kubeconfig. */
export const SIGNER_NAME = 'backup-signer.json';
const REQUEST_MS = 30_000;
const PUBLISHED_MS = 120_000;
/** The authorities of clients, as the API server publishes them for others. */
const CLIENT_CA = { namespace: 'kube-system', name: 'extension-apiserver-authentication' };

interface Options {
  readonly signal: AbortSignal;
  /** Says what happened. */
  readonly say: (line: string) => void;
}

/**
 * Writes beside a kubeconfig by what this laptop knows backups of the host: the authority that has signed its
 * administrator. It is public. After a rotation of the authority, it is replaced once the kubeconfig is.
 *
 * @throws Failure (retry) if the API server does not say which it is
 */
export async function saveBackupSigner(kubeconfig: string, options: Options): Promise<void> {
  const { signal, say } = options;
  const to = join(dirname(kubeconfig), SIGNER_NAME);
  const access = await readPersonsKubeconfig(kubeconfig, { signal });
  if (!isOfHost(access)) return;
  try {
    const text = `${JSON.stringify(await signerOf(access, options), null, 2)}\n`;
    if ((await readTextIfPresent(to)) === text) return;
    await writeFileAtomic(to, text, 0o644);
    say(`Wrote ${to}: "sno create restore-ignition --signer" knows backups of this host by it`);
  } catch (cause) {
    signal.throwIfAborted();
    throw new Failure('retry', `the installation is complete, and ${to} was not written`, {
      found: describeError(cause),
      fix: 'Run this command again.',
      cause,
      tellsCause: true,
    });
  }
}

/** Not the laptop's, which is exchanged, and not one of OpenShift, whose backups are made by its operators. */
const isOfHost = ({ certificate }: Access): boolean =>
  certificate !== undefined && isNameOf('admin', inspectCertificate(certificate).issuer.commonName);

async function signerOf(access: Access, { signal, say }: Options): Promise<BackupSigner> {
  const own = new X509Certificate(access.certificate ?? '');
  using client = new KubeClient(access);
  const place = { namespace: STATUS_NAMESPACE, name: STATUS_NAME };
  const status = await client.get(resources.configMaps, place, { signal, deadlineMs: REQUEST_MS });
  const { clusterId } = installationStatusSchema.parse(status.data);
  // With the database of a lost host come its authorities, until the API server has published its own.
  const certificate = await watchUntil(
    client,
    resources.configMaps,
    { namespace: CLIENT_CA.namespace, fieldSelector: `metadata.name=${CLIENT_CA.name}` },
    (objects) => issuerOf(own, objects.get(`${CLIENT_CA.namespace}/${CLIENT_CA.name}`)),
    {
      signal,
      deadlineMs: PUBLISHED_MS,
      what: 'the API server to publish the authority of its administrator',
      describe: () => `it is not in ConfigMap ${CLIENT_CA.namespace}/${CLIENT_CA.name}`,
      report: (state) => say(`Waiting for the authority of backups: ${state}`),
    },
  );
  return { schemaVersion: 1, clusterId, certificate };
}

function issuerOf(
  certificate: X509Certificate,
  published: { readonly data?: Readonly<Record<string, string>> | undefined } | undefined,
): string | undefined {
  return certificatesIn(published?.data?.['client-ca-file'] ?? '').find((pem) => {
    const authority = new X509Certificate(pem);
    return certificate.checkIssued(authority) && certificate.verify(authority.publicKey);
  });
}
