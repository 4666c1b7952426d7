import { describeError } from '../../base/errors/failure.ts';
import type { CertificateSigningRequest } from '../../clients/kube/resources.ts';
import { type RequestedCertificate, readRequestedCertificate } from './requested-certificate.ts';

/** A CertificateSigningRequest object, ready to be judged. */
export interface SigningRequest {
  readonly name: string;
  readonly signerName: string;
  /** Who asked, as the API server authenticated it. */
  readonly username: string;
  readonly groups: readonly string[];
  /** What proved that: `X509SHA256=` and the digest of a client certificate, or the id of a token. */
  readonly credentials: readonly string[];
  readonly usages: readonly string[];
  readonly expirationSeconds: number | undefined;
  readonly created: Date | undefined;
  /** `Approved`, `Denied`, `Failed`; empty while it is pending. */
  readonly decisions: readonly string[];
  /** Of the object, as JSON. */
  readonly bytes: number;
  /** More than is read: its certificate is unreadable. */
  readonly isTooLong: boolean;
  /** The parsed request, or why it cannot be parsed. Not parsed before it is needed. */
  certificate(): RequestedCertificate | Unreadable;
}

export interface Unreadable {
  readonly unreadable: string;
}

/** The key of Kubernetes 1.32 and newer (k8s.io/apiserver, pkg/authentication/user/user.go). */
const CREDENTIAL_ID = 'authentication.kubernetes.io/credential-id';

/** Of the whole object as JSON: labels and annotations have room beside the longest request. */
const LONGEST_OBJECT = 32 << 10;

/** Of an object that is too long, nothing that is long is kept. */
export function signingRequestOf(object: CertificateSigningRequest): SigningRequest {
  const { metadata, spec, status } = object;
  const bytes = JSON.stringify(object).length;
  const request = bytes <= LONGEST_OBJECT ? spec.request : undefined;
  let certificate: RequestedCertificate | Unreadable | undefined;
  return {
    name: metadata.name,
    signerName: spec.signerName,
    username: spec.username ?? '',
    groups: spec.groups ?? [],
    credentials: spec.extra?.[CREDENTIAL_ID] ?? [],
    usages: spec.usages ?? [],
    expirationSeconds: spec.expirationSeconds,
    created: metadata.creationTimestamp ? new Date(metadata.creationTimestamp) : undefined,
    decisions: [
      ...(status?.conditions ?? []).map(({ type }) => type),
      ...(status?.certificate === undefined ? [] : ['Issued']),
    ],
    bytes,
    isTooLong: request === undefined,
    certificate() {
      certificate ??= request === undefined ? tooLong(bytes) : readRequest(request);
      return certificate;
    },
  };
}

const tooLong = (bytes: number): Unreadable => ({
  unreadable: `the object has ${bytes} bytes, and at most ${LONGEST_OBJECT} are read`,
});

function readRequest(base64: string): RequestedCertificate | Unreadable {
  try {
    return readRequestedCertificate(Buffer.from(base64, 'base64').toString('latin1'));
  } catch (error) {
    return { unreadable: describeError(error) };
  }
}
