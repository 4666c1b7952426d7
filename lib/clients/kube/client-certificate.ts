import { createPrivateKey, randomBytes, X509Certificate } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { V1CertificateSigningRequest } from '@kubernetes/client-node';
import { describeError, Failure } from '../../base/errors/failure.ts';
import type { Limits } from '../../base/wait/limits.ts';
import type { KeyPair } from '../../pki/authority.ts';
import {
  type CertificateSubject,
  certificatesIn,
  inspectCertificate,
} from '../../pki/certificate.ts';
import { createSigningKey } from '../../pki/keys.ts';
import { certificateRequest } from '../../pki/request.ts';
import type { KubeClient } from './client.ts';
import { isKubeError } from './kube-error.ts';
import { type CertificateSigningRequest, resources } from './resources.ts';
import { watchUntil } from './watch-objects.ts';

const { certificateSigningRequests } = resources;
const REQUEST_MS = 30_000;
const DELETE_MS = 5_000;
const APPROVALS = 5;

/** Who asks, in the request that others see. */
export interface RequestPurpose {
  /** Its name begins with it. */
  readonly prefix: string;
  /** Of the approval. */
  readonly reason: string;
  readonly message: string;
  /** How long the certificate should be valid; the cluster may sign it for less. Default: what the cluster gives. */
  readonly expirationSeconds?: number;
}

const ADMINISTRATOR: RequestPurpose = {
  prefix: 'sno-administrator',
  reason: 'SnoAdministrator',
  message: 'Requested and approved by sno, as an administrator',
};

/**
 * Requests a client's certificate from the cluster, approves the request with the rights of `client`,
 * and waits for the certificate. The key exists only in memory. At the end the request is deleted;
 * if that fails, Kubernetes deletes it after a day at the latest.
 *
 * @throws Failure if it was denied, is not signed in time or does not fit; KubeError.
 */
export async function requestClientCertificate(
  client: KubeClient,
  subject: CertificateSubject,
  { signal, deadlineMs }: Limits,
  purpose = ADMINISTRATOR,
): Promise<KeyPair> {
  const key = await createSigningKey();
  const body = requestObject(await certificateRequest(subject, key), purpose);
  const limits = { signal, deadlineMs: REQUEST_MS };
  const request = body.metadata.name;
  try {
    await approve(
      client,
      await client.create(certificateSigningRequests, {}, body, limits),
      purpose,
      limits,
    );
    const certificate = await watchUntil(
      client,
      certificateSigningRequests,
      { fieldSelector: `metadata.name=${request}` },
      (objects) => issued(objects.get(request)),
      {
        signal,
        deadlineMs,
        what: `the cluster to sign the request ${request}`,
        describe: () => 'no certificate: see the logs of kube-controller-manager, which signs it',
        report: () => {},
      },
    );
    requireFit(certificate, key.privateKey, subject);
    return { certificate, key: key.privateKey };
  } finally {
    await deleteRequest(client, request);
  }
}

/** Also when the program is being stopped. */
async function deleteRequest(client: KubeClient, name: string): Promise<void> {
  const limits = { signal: AbortSignal.timeout(DELETE_MS), deadlineMs: DELETE_MS };
  await client.remove(certificateSigningRequests, { name }, limits).catch(() => undefined);
}

function requestObject(pem: string, { prefix, expirationSeconds }: RequestPurpose) {
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: `${prefix}-${randomBytes(5).toString('hex')}` },
    spec: {
      request: Buffer.from(pem).toString('base64'),
      signerName: 'kubernetes.io/kube-apiserver-client',
      usages: ['digital signature', 'client auth'],
      ...(expirationSeconds === undefined ? {} : { expirationSeconds }),
    },
  } satisfies V1CertificateSigningRequest;
}

/** Repeated if another program changed the request in between. */
async function approve(
  client: KubeClient,
  created: CertificateSigningRequest,
  { reason, message }: RequestPurpose,
  limits: Limits,
): Promise<void> {
  const { name } = created.metadata;
  let request = created;
  for (let attempt = 1; ; attempt += 1) {
    const approval = { type: 'Approved', status: 'True', reason, message };
    const conditions = [...(request.status?.conditions ?? []), approval];
    const body = { ...request, status: { ...request.status, conditions } };
    try {
      await client.replace(
        certificateSigningRequests,
        { name, subresource: 'approval' },
        body,
        limits,
      );
      return;
    } catch (error) {
      if (!isKubeError(error, 'conflict') || attempt === APPROVALS) throw error;
    }
    request = await client.get(certificateSigningRequests, { name }, limits);
    if (request.status?.conditions?.some(({ type }) => type === 'Denied')) return;
  }
}

/** Its certificate as PEM; undefined while there is none. */
function issued(request: CertificateSigningRequest | undefined): string | undefined {
  const refusal = request?.status?.conditions?.find(({ type }) => type !== 'Approved');
  if (refusal !== undefined) {
    const { type, reason = '', message = '' } = refusal;
    throw new Failure('fatal', 'the request for a certificate was not granted', {
      found: `${type}: ${[reason, message].filter(Boolean).join(', ') || 'no explanation'}`,
    });
  }
  const certificate = request?.status?.certificate;
  return certificate === undefined ? undefined : Buffer.from(certificate, 'base64').toString();
}

function requireFit(pem: string, key: string, subject: CertificateSubject): void {
  const fault = whyUnfit(pem, key, subject);
  if (fault === undefined) return;
  throw new Failure('fatal', 'the certificate that the cluster signed cannot be used', {
    found: fault,
  });
}

function whyUnfit(pem: string, key: string, subject: CertificateSubject): string | undefined {
  const [certificate] = certificatesIn(pem);
  if (certificate === undefined) return 'it is no certificate';
  try {
    const facts = inspectCertificate(certificate);
    if (!isDeepStrictEqual(facts.subject, subject)) return 'it is for another subject';
    if (!facts.clientAuth || facts.isAuthority) return 'it is not for a client';
    return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))
      ? undefined
      : 'it is for another key';
  } catch (error) {
    return describeError(error);
  }
}
