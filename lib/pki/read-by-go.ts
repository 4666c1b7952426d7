import type { KeyObject, X509Certificate } from 'node:crypto';
import { parseJson } from '../base/json.ts';

/** Curves of crypto/x509 and crypto/tls, as OpenSSL calls them. */
const CURVES: readonly (string | undefined)[] = [
  ...['secp224r1', 'prime256v1', 'secp384r1', 'secp521r1'],
];
const KEYS: readonly (string | undefined)[] = ['rsa', 'ec', 'ed25519'];

const PSS = '1.2.840.113549.1.1.10';
/** With RSA and ECDSA by SHA-256, SHA-384 or SHA-512, and Ed25519. Those by SHA-1 a handshake refuses everywhere. */
const SIGNATURES: readonly string[] = [
  ...['11', '12', '13', '5'].map((last) => `1.2.840.113549.1.1.${last}`),
  ...['1.2.840.10045.4.3.2', '1.2.840.10045.4.3.3', '1.2.840.10045.4.3.4', '1.2.840.10045.4.1'],
  ...['1.3.101.112', PSS],
];
/** In DER, of PSS: the hash and its length as that of the salt (crypto/x509, getSignatureAlgorithmFromAI). */
const SALTS = [
  ['0609608648016503040201', 'a203020120'],
  ['0609608648016503040202', 'a203020130'],
  ['0609608648016503040203', 'a203020140'],
] as const;
const PSS_PARAMETERS = /06092a864886f70d01010a30(?<parameters>[0-9a-f]{40,160})/;
/** The key of an elliptic curve, with the curve itself in place of its name. */
const CURVE_ITSELF = /06072a8648ce3d020130/;

/**
 * Why programs in Go (the API server, the kubelet, kubectl, podman) do not read a certificate, or not verify by it,
 * although OpenSSL does both; undefined if they do. The judge of the list is Go, in
 * `test/integration/certificates-in-go.test.ts`.
 *
 * @param isAnchor nobody verifies its own signature; true by default of a root
 */
export function unreadByGo(
  certificate: X509Certificate,
  isAnchor = certificate.checkIssued(certificate),
): string | undefined {
  const { serialNumber, subjectAltName = '' } = certificate;
  const der = certificate.raw.toString('hex');
  if (serialNumber.startsWith('-')) return 'a negative serial number';
  const { asymmetricKeyType: type } = keyOf(certificate) ?? {};
  if (type === undefined) return 'a key that cannot be read';
  if (!KEYS.includes(type)) return `a key of ${type}`;
  const curve = unnamedCurve(certificate);
  if (curve !== undefined) return curve;
  if (CURVE_ITSELF.test(der)) return 'a key with the parameters of its curve';
  if (textNames(subjectAltName).some((name) => /[^\0-\x7f]/.test(name))) {
    return 'a name with letters other than those of ASCII';
  }
  return isAnchor ? undefined : signatureProblem(certificate, der);
}

/**
 * What such a certificate must not have to reach a connection of this program: Node 24 ends with SIGSEGV when it describes
 * a key on a curve without a name of NIST (`getPeerCertificate`). Undefined: another key, or a curve of NIST.
 */
export function unnamedCurve(certificate: X509Certificate): string | undefined {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = keyOf(certificate) ?? {};
  if (type !== 'ec' || CURVES.includes(details?.namedCurve)) return undefined;
  return `a key on the curve ${details?.namedCurve ?? 'of its own'}`;
}

/** The names that Go decodes, of Node's list, in which what has a comma or other letters is quoted. */
const textNames = (list: string): string[] =>
  [...list.matchAll(/(?:^|, )(?:DNS|email|URI):("(?:[^"\\]|\\.)*"|[^,]*)/g)].map(([, name = '']) =>
    String((name.startsWith('"') ? parseJson(name) : undefined) ?? name),
  );

/** OpenSSL decodes it only now. */
function keyOf(certificate: X509Certificate): KeyObject | undefined {
  try {
    return certificate.publicKey;
  } catch {
    return undefined;
  }
}

function signatureProblem(
  { signatureAlgorithm, signatureAlgorithmOid = '' }: X509Certificate,
  der: string,
): string | undefined {
  if (!SIGNATURES.includes(signatureAlgorithmOid)) return `a signature by ${signatureAlgorithm}`;
  if (signatureAlgorithmOid !== PSS) return undefined;
  const { parameters = '' } = PSS_PARAMETERS.exec(der)?.groups ?? {};
  return SALTS.some(([hash, salt]) => parameters.includes(hash) && parameters.includes(salt))
    ? undefined
    : 'a signature by PSS with a salt that is not as long as its hash';
}
