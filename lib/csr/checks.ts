import type { RequestedCertificate } from './requested-certificate.ts';
import type { SigningRequest } from './signing-request.ts';

export type Rule =
  | 'pending'
  | 'signer'
  | 'host-name'
  | 'worker'
  | 'expiry'
  | 'requestor'
  | 'groups'
  | 'age'
  | 'request'
  | 'signature'
  | 'key'
  | 'fingerprint'
  | 'subject'
  | 'extensions'
  | 'usages'
  | 'lifetime'
  | 'dns-names'
  | 'other-names'
  | 'node-exists'
  | 'node-addresses'
  | 'ip-addresses';

export type Judgement =
  | { readonly verdict: 'approve' }
  /** Left pending, never denied: the rule that it violates, and how, for people. */
  | { readonly verdict: 'leave'; readonly rule: Rule; readonly explanation: string };

/** Undefined if the rule is met, otherwise how it is violated. */
export type Check<T> = (input: T) => string | undefined;
/** In the order in which they are checked: the first rule that is violated is reported. */
export type Checks<T> = readonly (readonly [Rule, Check<T>])[];

/** What the common rules look at. */
export interface Request {
  readonly csr: SigningRequest;
  readonly now: Date;
}
/** The same, with its PKCS#10 request. */
export interface Readable {
  readonly certificate: RequestedCertificate;
}

export const servingSigner = 'kubernetes.io/kubelet-serving';
const nodesGroup = 'system:nodes';
/** The groups that the API server gives to a node's kubelet. */
export const nodeGroups: readonly string[] = [nodesGroup, 'system:authenticated'];
/** The kubelet gives up on a request after 15 minutes; the rest allows for clock changes. */
const longestAgeMs = 60 * 60_000;
const longestLifetimeSeconds = 30 * 24 * 3600;
const strongCurves = ['EC prime256v1', 'EC secp384r1', 'EC secp521r1'];

/** The user as which the API server knows a node's kubelet. */
export const userOfNode = (nodeName: string) => `system:node:${nodeName}`;
export const show = (values: readonly string[]) =>
  values.length === 0 ? 'none' : values.join(', ');
export const differs = (expected: string, found: string) => `expected ${expected}; found ${found}`;

/** The request is undecided. */
export const undecided: Check<Request> = ({ csr }) =>
  csr.decisions.length === 0 ? undefined : `it is ${show(csr.decisions)} already`;

/** Somebody still waits for the certificate, and it is not for longer than usual. */
export const timely: Checks<Request> = [
  ['age', ({ csr, now }) => whyTooOld(csr.created, now)],
  [
    'lifetime',
    ({ csr }) =>
      (csr.expirationSeconds ?? 0) <= longestLifetimeSeconds
        ? undefined
        : differs(`at most ${longestLifetimeSeconds} s`, `${csr.expirationSeconds} s`),
  ],
];

/** The requestor has the key, and the key is strong. */
export const provenKey: Checks<Readable> = [
  [
    'signature',
    ({ certificate }) =>
      certificate.signatureIsValid ? undefined : 'its signature does not match its public key',
  ],
  ['key', ({ certificate }) => whyWeak(certificate.key)],
];

export const noExtras: Check<Readable> = ({ certificate: { extras } }) =>
  extras.length === 0 ? undefined : differs('alternative names only', show(extras));

export const noOtherNames: Check<Readable> = ({ certificate: { otherNames } }) =>
  otherNames.length === 0 ? undefined : differs('DNS names and addresses only', show(otherNames));

/** The judgement by the surrounding object first, and by the PKCS#10 request in it. */
export function judged<T extends Request>(
  outer: Checks<T>,
  inner: Checks<T & Readable>,
  input: T,
): Judgement {
  const broken = firstBroken(outer, input);
  if (broken !== undefined) return broken;
  const { certificate } = input.csr;
  if ('unreadable' in certificate) {
    return { verdict: 'leave', rule: 'request', explanation: certificate.unreadable };
  }
  return firstBroken(inner, { ...input, certificate }) ?? { verdict: 'approve' };
}

function firstBroken<T>(checks: Checks<T>, input: T): Judgement | undefined {
  for (const [rule, check] of checks) {
    const explanation = check(input);
    if (explanation !== undefined) return { verdict: 'leave', rule, explanation };
  }
  return undefined;
}

function whyTooOld(created: Date | undefined, now: Date): string | undefined {
  if (created === undefined) return 'it has no creation time';
  return now.getTime() - created.getTime() <= longestAgeMs
    ? undefined
    : `it was created at ${created.toISOString()}: the request has expired`;
}

/** Why a public key is too weak to be certified. */
export function whyWeak(key: string): string | undefined {
  const bits = /^RSA (\d+)$/.exec(key)?.[1];
  const strong = bits === undefined ? strongCurves.includes(key) : Number(bits) >= 2048;
  return strong ? undefined : differs('ECDSA on a NIST curve or RSA from 2048 bits', key);
}

/** The subject of a node's certificates: the group of all nodes, and its own user. */
export function whyOtherSubject(
  subject: RequestedCertificate['subject'],
  nodeName: string,
): string | undefined {
  return whyOther(
    subject.map(([type, value]) => `${type}=${value}`),
    [`O=${nodesGroup}`, `CN=${userOfNode(nodeName)}`],
  );
}

/** Key encipherment applies to RSA keys only: kubelets with other keys do not request it. */
export function whyOtherUsages(
  usages: readonly string[],
  key: string,
  side: 'server auth' | 'client auth',
): string | undefined {
  const needed = ['digital signature', side];
  if (!key.startsWith('RSA')) return whyOther(usages, needed);
  const withoutOptional = usages.filter((usage) => usage !== 'key encipherment');
  return usages.length - withoutOptional.length > 1
    ? whyOther(usages, needed)
    : whyOther(withoutOptional, needed);
}

/** Compares as sets: any order, no duplicates. */
export function whyOther(
  found: readonly string[],
  expected: readonly string[],
): string | undefined {
  const same = found.length === expected.length && expected.every((value) => found.includes(value));
  return same ? undefined : differs(show(expected), show(found));
}
