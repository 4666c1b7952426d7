import { X509Certificate } from 'node:crypto';
import type { Problem } from '../../base/errors/problem.ts';
import { isPathLike } from '../../base/path-like.ts';
import { unreadByGo } from '../../pki/read-by-go.ts';
import { lostLines } from './pem-lines.ts';

/** Up to the next dashes only: a text with many BEGIN lines and no END would take the square of its length. */
const BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----(?:(?!-----)[\s\S])*-----END \1-----/g;

/**
 * Why a string does not consist of PEM certificates; undefined if it does. Lines
 * between them are comments.
 */
export function trustBundleProblem(text: string): Problem | undefined {
  if (text.trim() === '') return undefined;
  const expected = 'X.509 certificates in PEM';
  const fix = 'Include the CA certificates, each from its BEGIN to its END line.';
  if (/-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----/.test(text)) {
    return {
      expected,
      found: 'a private key',
      fix: 'Remove it: only the CA certificate is needed.',
    };
  }
  const lost = lostLines(text);
  if (lost !== undefined) return { expected, ...lost };
  const blocks = [...text.matchAll(BLOCK)];
  if (text.split('-----BEGIN ').length - 1 !== blocks.length) {
    return { expected, found: 'a BEGIN line without its END line', fix };
  }
  if (blocks.length === 0) {
    return { expected, found: isPathLike(text) ? 'the path of a file' : 'none', fix };
  }
  const other = blocks.find(([, label]) => label !== 'CERTIFICATE');
  if (other !== undefined) return { expected, found: `a block ${other[1]}`, fix };
  const bad = blocks.findIndex(([block]) => !isCertificate(block));
  if (bad < 0) return undefined;
  return { expected, found: `an invalid certificate, number ${bad + 1} of ${blocks.length}`, fix };
}

/** The certificates of a valid bundle. */
export function certificatesOf(bundle: string): X509Certificate[] {
  return [...bundle.matchAll(BLOCK)].map(([block]) => new X509Certificate(block));
}

/** What of a valid bundle lets nothing be trusted: one line each. `now`: of the laptop. */
export const bundleNotices = (bundle: string | undefined, now: Date): string[] =>
  certificatesOf(bundle ?? '').flatMap((certificate) => {
    const { subject = '', issuer, validTo, validToDate, ca } = certificate;
    const unread = unreadByGo(certificate, true);
    const name = `the certificate ${subject.replaceAll('\n', ', ')} of additionalTrustBundle`;
    return [
      ...(validToDate < now ? [`${name} expired on ${validTo}`] : []),
      ...(ca || subject === issuer
        ? []
        : [`${name} is not that of an authority: OpenSSL and curl trust nothing by it`]),
      ...(unread === undefined
        ? []
        : [`${name} has ${unread}: programs in Go, such as the kubelet and podman, pass over it`]),
    ];
  });

function isCertificate(block: string): boolean {
  try {
    return new X509Certificate(block).subject !== undefined;
  } catch {
    return false;
  }
}
