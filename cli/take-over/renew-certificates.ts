import { Failure } from '../../lib/base/errors/failure.ts';
import type { KeyPair } from '../../lib/pki/authority.ts';
import {
  certificatesIn,
  inspectCertificate,
  isIssuedBy,
  validityOf,
} from '../../lib/pki/certificate.ts';
import { publicKeyFingerprint } from '../../lib/pki/keys.ts';
import { daysMs, validity } from '../../lib/pki/lifetimes.ts';
import { signAgain } from '../../lib/pki/sign-again.ts';
import {
  bodyOf,
  distinctCertificates,
  hasCertificate,
  replaceCertificates,
} from './replace-certificates.ts';

/** A certificate in the report. */
export interface DatedCertificate {
  readonly name: string;
  readonly notAfter: Date;
  /** Paths of the files with it, its own first. */
  readonly paths: readonly string[];
}

export interface RenewedCertificates {
  /** The contents of every file, changed or not. */
  readonly texts: ReadonlyMap<string, string>;
  readonly renewed: readonly DatedCertificate[];
  /** They expire too early, and nothing here can sign them again. */
  readonly tooShort: readonly DatedCertificate[];
  /** The others that expire within two years; the cluster's operators replace them. */
  readonly others: readonly DatedCertificate[];
}

/** The installation itself, on the last day. */
const INSTALLATION_DAYS = 1;
const SHORT_DAYS = 730;

/**
 * Signs again every certificate of the installer that expires before the node was shipped and
 * installed, with the same key: authorities by themselves, leaves by theirs. Each is valid
 * `shippingDays` longer than the installer made it, so that the last day of shipping leaves as much
 * time as its first. The keys were made for this cluster and are in this config only, so new ones
 * would protect nothing, and whatever an authority signed before stays valid.
 *
 * @param texts Contents of files by their paths; keys are those in `.key` files.
 */
export async function renewCertificates(
  texts: ReadonlyMap<string, string>,
  shippingDays: number,
  clock: Date,
): Promise<RenewedCertificates> {
  // Certificates have no fractions of a second.
  const now = new Date(Math.floor(clock.getTime() / 1000) * 1000);
  const all = distinctCertificates(texts.values());
  const neededUntil = new Date(now.getTime() + daysMs(shippingDays + INSTALLATION_DAYS));
  const due = all.filter((pem) => validityOf(pem).notAfter < neededUntil);
  const keys = privateKeys(texts);
  const replacements = new Map<string, string>();
  const tooShort: string[] = [];
  const inOrder = [...due].sort((a, b) => Number(isAuthority(b)) - Number(isAuthority(a)));
  for (const old of inOrder) {
    const signer = await signerOf(old, all, keys);
    const by = signer && { ...signer, certificate: replaced(signer.certificate, replacements) };
    const next = by && (await extended(old, by, shippingDays, now));
    if (next === undefined || validityOf(next).notAfter < neededUntil) tooShort.push(old);
    if (next !== undefined) replacements.set(bodyOf(old), next);
  }
  const after = new Map(
    [...texts].map(([path, text]) => [path, replaceCertificates(text, replacements)]),
  );
  requireReplaced(after, [...replacements.keys()]);
  const soon = new Date(now.getTime() + daysMs(SHORT_DAYS));
  const report = (pems: readonly string[]) => pems.map((pem) => dated(pem, after));
  return {
    texts: after,
    renewed: report(
      inOrder.filter((old) => !tooShort.includes(old)).map((old) => replaced(old, replacements)),
    ),
    tooShort: report(tooShort.map((old) => replaced(old, replacements))),
    others: report(all.filter((pem) => !due.includes(pem) && validityOf(pem).notAfter < soon)),
  };
}

const replaced = (pem: string, by: ReadonlyMap<string, string>) => by.get(bodyOf(pem)) ?? pem;

/** By the fingerprint of the public key. */
function privateKeys(texts: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  return new Map(
    [...texts]
      .filter(([path]) => path.endsWith('.key'))
      .flatMap(([, pem]): [string, string][] => {
        const fingerprint = fingerprintOf(pem);
        return fingerprint === undefined ? [] : [[fingerprint, pem]];
      }),
  );
}

/** Undefined for a file with something else, which then signs nothing. */
function fingerprintOf(pem: string): string | undefined {
  try {
    return publicKeyFingerprint(pem);
  } catch {
    return undefined;
  }
}

/** The authority that signed it, if its key is here. */
async function signerOf(
  pem: string,
  all: readonly string[],
  keys: ReadonlyMap<string, string>,
): Promise<KeyPair | undefined> {
  for (const certificate of all) {
    const key = keys.get(publicKeyFingerprint(certificate));
    if (key !== undefined && (await isIssuedBy(pem, certificate))) return { certificate, key };
  }
  return undefined;
}

async function extended(
  old: string,
  signer: KeyPair,
  shippingDays: number,
  now: Date,
): Promise<string> {
  const before = validityOf(old);
  const lifetimeMs = before.notAfter.getTime() - before.notBefore.getTime();
  const fresh = validity(
    { now, validFrom: before.notBefore },
    shippingDays + lifetimeMs / daysMs(1),
  );
  const isOwn = bodyOf(old) === bodyOf(signer.certificate);
  const limit = isOwn ? fresh.notAfter : validityOf(signer.certificate).notAfter;
  return signAgain(old, signer, {
    notBefore: fresh.notBefore,
    notAfter: earlier(fresh.notAfter, limit),
  });
}

const earlier = (a: Date, b: Date): Date => (a < b ? a : b);

/** A certificate in a form that is not recognized would contradict the others. */
function requireReplaced(texts: ReadonlyMap<string, string>, old: readonly string[]): void {
  const left = [...texts].filter(([, text]) => hasCertificate(text, old)).map(([path]) => path);
  if (left.length === 0) return;
  throw new Failure('usage', 'Certificates could not be replaced; nothing was written', {
    expected: 'PEM, or base64 of PEM',
    found: `another form in ${left.join(', ')}`,
  });
}

const isAuthority = (pem: string) => inspectCertificate(pem).isAuthority;

function dated(pem: string, texts: ReadonlyMap<string, string>): DatedCertificate {
  const { subject, issuer, notAfter } = inspectCertificate(pem);
  const isRoot = subject.commonName === issuer.commonName;
  const name = isRoot ? subject.commonName : `${subject.commonName} (by ${issuer.commonName})`;
  const body = bodyOf(pem);
  const paths = [...texts].filter(([, text]) => hasCertificate(text, [body])).map(([path]) => path);
  const isFirst = (path: string) => bodyOf(certificatesIn(texts.get(path) ?? '')[0] ?? '') === body;
  const own = paths.filter((path) => /^(?!.*bundle).*\.crt$/.test(path) && isFirst(path));
  return { name, notAfter, paths: [...new Set([...own, ...paths])] };
}
