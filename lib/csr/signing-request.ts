import { describeError } from '../errors/failure.ts';
import type { CertificateSigningRequest } from '../kube/resources.ts';
import { type RequestedCertificate, readRequestedCertificate } from './requested-certificate.ts';

/** A CertificateSigningRequest object, ready to be judged. */
export interface SigningRequest {
  readonly name: string;
  readonly signerName: string;
  /** Who asked, as the API server authenticated it. */
  readonly username: string;
  readonly groups: readonly string[];
  readonly usages: readonly string[];
  readonly expirationSeconds: number | undefined;
  readonly created: Date | undefined;
  /** `Approved`, `Denied`, `Failed`; empty while it is pending. */
  readonly decisions: readonly string[];
  /** The parsed request, or why it cannot be parsed. */
  readonly certificate: RequestedCertificate | { readonly unreadable: string };
}

/** Parsed certificates by request, for callers that judge the same request repeatedly. */
export type CertificateCache = Map<string, SigningRequest['certificate']>;

export async function readSigningRequest(
  { metadata, spec, status }: CertificateSigningRequest,
  cache: CertificateCache = new Map(),
): Promise<SigningRequest> {
  const certificate = cache.get(spec.request) ?? (await readRequest(spec.request));
  cache.set(spec.request, certificate);
  return {
    name: metadata.name,
    signerName: spec.signerName,
    username: spec.username ?? '',
    groups: spec.groups ?? [],
    usages: spec.usages ?? [],
    expirationSeconds: spec.expirationSeconds,
    created: metadata.creationTimestamp ? new Date(metadata.creationTimestamp) : undefined,
    decisions: [
      ...(status?.conditions ?? []).map(({ type }) => type),
      ...(status?.certificate === undefined ? [] : ['Issued']),
    ],
    certificate,
  };
}

async function readRequest(base64: string): Promise<SigningRequest['certificate']> {
  try {
    return await readRequestedCertificate(Buffer.from(base64, 'base64').toString('latin1'));
  } catch (error) {
    return { unreadable: describeError(error) };
  }
}
