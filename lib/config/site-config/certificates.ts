import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import type { KeyPair } from '../../pki/authority.ts';
import { certificatesIn } from '../../pki/certificate.ts';
import { unreadByGo } from '../../pki/read-by-go.ts';
import type { Misfit, Path } from '../site/nmstate/misfit.ts';
import { lostLines } from '../site/pem-lines.ts';

/** A certificate as the configuration has it: PEM texts or paths. */
interface Given {
  readonly certificate: string;
  readonly key: string;
}

/** The files beside site-config.yaml, by their path. */
export type Files = ReadonlyMap<string, Uint8Array>;

const SERVER_AUTH = '1.3.6.1.5.5.7.3.1';
/** Of what a server sends in each handshake. */
const MOST_CERTIFICATES = 8;

export const isPem = (text: string): boolean => text.includes('-----BEGIN ');

/** The PEM text that a field means, without a byte order mark, with which Go reads none; undefined if it names a file that is not there. */
export function pemOf(given: string, files: Files): string | undefined {
  const file = files.get(given);
  const text = isPem(given) ? given : file && Buffer.from(file).toString('utf8');
  return text?.replace(/^\uFEFF/, '');
}

/** The names that a certificate is for, and when it has to be valid. */
export interface Purpose {
  /** One that begins with `*.` is a wildcard. */
  readonly name: string;
  readonly now: Date;
  /** Until when the configuration may be used. */
  readonly until: Date | undefined;
}

/** Why a pair does not serve; `path` is that of the mapping with both. */
export function certificateFaults(
  path: Path,
  given: Given,
  files: Files,
  purpose: Purpose,
): Misfit[] {
  const texts = { certificate: pemOf(given.certificate, files), key: pemOf(given.key, files) };
  const missing = (['certificate', 'key'] as const).filter((name) => texts[name] === undefined);
  const chain = texts.certificate === undefined ? undefined : chainOf(texts.certificate);
  const key = texts.key === undefined ? undefined : keyOf(texts.key);
  return [
    ...missing.map((name) => missingFile([...path, name], given[name])),
    ...(texts.certificate !== undefined && chain === undefined
      ? [unreadable([...path, 'certificate'], texts.certificate)]
      : []),
    ...(texts.key !== undefined && key === undefined ? [noKey([...path, 'key'], texts.key)] : []),
    ...(key === undefined || isServed(key) ? [] : [unservedKey([...path, 'key'], key)]),
    ...(chain === undefined ? [] : chainFaults([...path, 'certificate'], chain, purpose)),
    ...(chain !== undefined && key !== undefined && !chain[0].checkPrivateKey(key)
      ? [otherKey([...path, 'key'])]
      : []),
  ];
}

type Chain = readonly [X509Certificate, ...X509Certificate[]];

function chainOf(pem: string): Chain | undefined {
  try {
    const [leaf, ...others] = certificatesIn(pem).map((each) => new X509Certificate(each));
    return leaf === undefined ? undefined : [leaf, ...others];
  } catch {
    return undefined;
  }
}

function keyOf(pem: string) {
  try {
    return createPrivateKey(pem);
  } catch {
    return undefined;
  }
}

function chainFaults(path: Path, chain: Chain, { name, now, until }: Purpose): Misfit[] {
  const [leaf] = chain;
  const fix =
    'Let the authority issue one for the site, and put the certificates of its issuers after it.';
  const wrong = (expected: string, found: string): Misfit => ({ path, expected, found, fix });
  const faults: Misfit[] = [];
  // openssl req -x509 marks the certificate that it signs with its own key as that of an authority.
  const isSelfSigned = chain.length === 1 && leaf.checkIssued(leaf);
  if (leaf.ca && !(isSelfSigned && isFor(leaf, name))) {
    faults.push(wrong("a server's certificate first", 'that of an authority'));
  } else if (!isFor(leaf, name)) faults.push(wrong(`one for ${name}`, namesOf(leaf)));
  if (leaf.keyUsage !== undefined && !leaf.keyUsage.includes(SERVER_AUTH)) {
    faults.push(wrong('one for servers', 'one for other purposes'));
  }
  for (const [at, each] of chain.entries()) {
    const dates = dateFault(each, now, until);
    if (dates !== undefined) faults.push(wrong(dates.expected, numbered(dates.found, at)));
  }
  for (const [at, each] of chain.entries()) {
    const unread = unreadByGo(each);
    if (unread === undefined) continue;
    const expected = 'one that programs in Go read, such as the API server and its clients';
    faults.push(wrong(expected, numbered(`one with ${unread}`, at)));
  }
  if (chain.length > MOST_CERTIFICATES) {
    faults.push(wrong(`at most ${MOST_CERTIFICATES} certificates`, `${chain.length}`));
  }
  const unlinked = chain.slice(1).findIndex((issuer, at) => !chain[at]?.checkIssued(issuer));
  if (unlinked >= 0) {
    const expected = 'each certificate followed by that of its issuer';
    faults.push(wrong(expected, `another one as number ${unlinked + 2}`));
  }
  return faults;
}

/** Why a certificate, the leaf or one of an issuer, is not valid as long as it is needed. */
function dateFault(
  { validFromDate, validToDate }: X509Certificate,
  now: Date,
  until: Date | undefined,
): { readonly expected: string; readonly found: string } | undefined {
  const expected = 'one that is valid now';
  if (validToDate < now) return { expected, found: `one that ended on ${day(validToDate)}` };
  if (validFromDate > now) return { expected, found: `one that begins on ${day(validFromDate)}` };
  if (until === undefined || validToDate >= until) return undefined;
  return {
    expected: `one that is valid until validUntil (${day(until)})`,
    found: `one that ends on ${day(validToDate)}`,
  };
}

/** The leaf needs no number. */
const numbered = (found: string, at: number): string =>
  at === 0 ? found : `${found} as number ${at + 1}, that of an issuer`;

/** A wildcard must be one: a certificate for a single name below does not serve the others. */
const isFor = (leaf: X509Certificate, name: string): boolean =>
  name.startsWith('*.')
    ? leaf.checkHost(`any-name-at-all${name.slice(1)}`, { subject: 'never' }) !== undefined
    : leaf.checkHost(name, { subject: 'never' }) !== undefined;

const namesOf = ({ subjectAltName }: X509Certificate): string =>
  subjectAltName === undefined ? 'one without names' : `one for ${subjectAltName.slice(0, 200)}`;

const day = (date: Date): string => date.toISOString().slice(0, 10);

const missingFile = (path: Path, given: string): Misfit => ({
  path,
  expected: 'PEM, or the path of a file beside site-config.yaml',
  found: isPath(given) ? 'no such file' : 'neither',
  fix: 'Put the file there; its name has letters, digits, "-", "_", "." and "/" only.',
});

/** A path of a file on a volume: below its folder, and the same on every file system. */
export const isPath = (text: string): boolean =>
  text.length <= 200 &&
  /^[A-Za-z0-9_][A-Za-z0-9._-]*(\/[A-Za-z0-9_][A-Za-z0-9._-]*){0,4}$/.test(text);

/** DER and PKCS#12 are both one long sequence of ASN.1. */
const isBinary = (text: string): boolean => text.startsWith('0\ufffd');
const BINARY = 'a binary file, DER or PKCS#12';

function unreadable(path: Path, text: string): Misfit {
  const expected = 'certificates in PEM';
  if (isBinary(text)) {
    const fix =
      'Convert it: openssl x509 -inform der -in FILE, or openssl pkcs12 -nokeys -in FILE.';
    return { path, expected, found: BINARY, fix };
  }
  const fix = 'Copy them, each from its BEGIN to its END line.';
  return { path, expected, found: 'none that can be read', fix, ...lostLines(text) };
}

function noKey(path: Path, text: string): Misfit {
  const expected = 'a private key in PEM without a passphrase';
  if (isBinary(text)) {
    const fix =
      'Convert it: openssl pkey -inform der -in FILE, or openssl pkcs12 -nocerts -noenc -in FILE.';
    return { path, expected, found: BINARY, fix };
  }
  return {
    path,
    expected,
    found: /ENCRYPTED/.test(text) ? 'one with a passphrase' : 'none that can be read',
    fix: 'Copy the key of the certificate; openssl pkey removes a passphrase.',
    ...lostLines(text),
  };
}

/** Go's TLS has no others (crypto/tls, parsePrivateKey), and its clients refuse short keys of RSA. */
const CURVES = ['prime256v1', 'secp384r1', 'secp521r1'];
const LEAST_RSA_BITS = 2048;

function isServed({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject): boolean {
  if (type === 'rsa') return (details?.modulusLength ?? 0) >= LEAST_RSA_BITS;
  return type === 'ed25519' || (type === 'ec' && CURVES.includes(details?.namedCurve ?? ''));
}

const unservedKey = (path: Path, key: KeyObject): Misfit => ({
  path,
  expected: `a key of RSA with at least ${LEAST_RSA_BITS} bits, ECDSA on P-256, P-384 or P-521, or Ed25519`,
  found: describedKey(key),
  fix: 'Make another key, and let the authority issue a certificate for it.',
});

function describedKey({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): string {
  const { modulusLength, namedCurve } = asymmetricKeyDetails ?? {};
  const size = modulusLength === undefined ? namedCurve : `${modulusLength} bits`;
  return [asymmetricKeyType, size].filter((part) => part !== undefined).join(', ');
}

const otherKey = (path: Path): Misfit => ({
  path,
  expected: 'the key of the certificate',
  found: 'another key',
  fix: 'Give the certificate and the key that belong together.',
});

/** The pair, if both are there. Of the certificates nothing but themselves: Go needs each on lines of its own. */
export function pairOf(given: Given | undefined, files: Files): KeyPair | undefined {
  if (given === undefined) return undefined;
  const certificates = pemOf(given.certificate, files);
  const key = pemOf(given.key, files);
  if (certificates === undefined || key === undefined) return undefined;
  return { certificate: certificatesIn(certificates).join(''), key };
}
