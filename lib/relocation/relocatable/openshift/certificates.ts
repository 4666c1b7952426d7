import { z } from 'zod';
import { parseJson } from '../../../base/json.ts';
import { objectSchema } from '../../../clients/kube/resources.ts';
import {
  type CertificateFacts,
  certificatesIn,
  inspectCertificate,
} from '../../../pki/certificate.ts';
import type { NodeCertificate } from '../validation/facts.ts';

/** What is read of a Secret of the type kubernetes.io/tls. */
export const certificateSecretSchema = objectSchema.extend({
  // Not loose: the keys are dropped at once.
  data: z.object({ 'tls.crt': z.base64().optional() }).optional(),
});

export type CertificateSecret = z.infer<typeof certificateSecretSchema>;

/**
 * A link to the proof that a certificate is made again when it has expired while the cluster was off (openshift/library-go,
 * pkg/operator/certrotation). The static pods of the API server do it by themselves, before any operator runs.
 */
const MADE_AGAIN = 'certificates.openshift.io/auto-regenerate-after-offline-expiry';

/** Not all releases mark those that the recovery controller beside the controller-manager makes again, and the copy that it reads. */
const RECOVERED: readonly string[] = [
  'openshift-kube-controller-manager-operator/csr-signer-signer',
  'openshift-kube-controller-manager-operator/csr-signer',
  'openshift-kube-controller-manager/csr-signer',
];

/** etcd does not start with an expired one, and nobody can make another without it. */
const ETCD = 'openshift-etcd';

/**
 * The certificates of OpenShift's own namespaces on which the next start depends: authorities, and everything of etcd. Others are
 * signed again by their authority.
 */
export function clusterCertificates(
  secrets: readonly CertificateSecret[],
  now: Date,
): NodeCertificate[] {
  return secrets.flatMap(({ metadata, data }) => {
    const { name, namespace = '', annotations = {} } = metadata;
    const text = data?.['tls.crt'];
    if (!namespace.startsWith('openshift-') || !text) return [];
    const object = `${namespace}/${name}`;
    const item = certificateOf(
      { name, path: `Secret ${object}` },
      Buffer.from(text, 'base64').toString(),
      now,
    );
    const isJudged = item.facts?.isAuthority !== false || namespace === ETCD;
    if (!isJudged) return [];
    const isMadeAgain = MADE_AGAIN in annotations || RECOVERED.includes(object);
    return [
      {
        ...item.certificate,
        ...(isMadeAgain ? { madeAgain: 'the control plane, when it starts' } : {}),
      },
    ];
  });
}

/** The first certificate of a text, under that name. */
export function certificateOf(
  of: Pick<NodeCertificate, 'name' | 'path'>,
  text: string,
  now: Date,
): { readonly certificate: NodeCertificate; readonly facts?: CertificateFacts } {
  try {
    const [first = text] = certificatesIn(text);
    const facts = inspectCertificate(first);
    const { notBefore, notAfter } = facts;
    const inTime = now < notBefore ? 'not-yet-valid' : 'valid';
    const certificate = {
      ...of,
      state: now > notAfter ? ('expired' as const) : inTime,
      notBefore: notBefore.toISOString(),
      notAfter: notAfter.toISOString(),
    } satisfies NodeCertificate;
    return { certificate, facts };
  } catch {
    return { certificate: { ...of, state: 'unreadable' } };
  }
}

const claimsSchema = z.looseObject({ exp: z.number().optional() });

/**
 * Until when a kubelet without a certificate can ask for one, by the credentials of its bootstrap kubeconfig; undefined: it
 * cannot.
 */
export function bootstrapEnd(access: {
  readonly certificate?: string | undefined;
  readonly token?: string | undefined;
}): Date | 'never' | undefined {
  const { certificate, token } = access;
  if (certificate !== undefined) return inspectCertificate(certificate).notAfter;
  if (token === undefined) return undefined;
  const [, payload = ''] = token.split('.');
  const claims = claimsSchema.safeParse(parseJson(Buffer.from(payload, 'base64url').toString()));
  const seconds = claims.success ? claims.data.exp : undefined;
  // Those of Secrets, as the node-bootstrapper has one, do not expire.
  return seconds === undefined ? 'never' : new Date(seconds * 1000);
}
