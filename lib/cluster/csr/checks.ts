import { lifetimes } from '../../pki/lifetimes.ts';
import { encodedAttributes, encodedNames, encodedSubjects } from './kubelet-encoding.ts';
import type { RequestedCertificate, Signature } from './requested-certificate.ts';
import type { SigningRequest } from './signing-request.ts';

export type CsrRule =
  | 'pending'
  | 'signer'
  | 'host-name'
  | 'worker'
  | 'expiry'
  | 'requestor'
  | 'groups'
  | 'credential'
  | 'age'
  | 'request'
  | 'signature'
  | 'key'
  | 'fingerprint'
  | 'subject'
  | 'extensions'
  | 'usages'
  | 'lifetime'
  | 'names'
  | 'node-exists'
  | 'node-addresses';

export type CsrJudgement =
  | { readonly verdict: 'approve' }
  /** Left pending, never denied: the rule that it violates, and how, for people. */
  | { readonly verdict: 'leave'; readonly rule: CsrRule; readonly explanation: string };

/** Undefined if the rule is met, otherwise how it is violated. */
export type CsrCheck<T> = (input: T) => string | undefined;
/** In the order in which they are checked: the first rule that is violated is reported. */
export type Checks<T> = readonly (readonly [CsrRule, CsrCheck<T>])[];

/**
 * All rules for one kind of request. None of them is implied by the others: without any one of them,
 * some request that the API server accepts would be approved (test/unit/cluster/csr/each-rule.test.ts).
 */
export interface Rules<T extends CsrRequest> {
  /** About the object around the request: strangers' requests are not even parsed. */
  readonly outer: Checks<T>;
  /** About the PKCS#10 request in it. */
  readonly inner: Checks<T & Readable>;
}

/** What the common rules look at. */
export interface CsrRequest {
  readonly csr: SigningRequest;
  readonly now: Date;
}
/** The same, with its PKCS#10 request. */
export interface Readable {
  readonly certificate: RequestedCertificate;
}

const nodesGroup = 'system:nodes';
/** The groups that the API server gives to a node's kubelet. */
export const nodeGroups: readonly string[] = [nodesGroup, 'system:authenticated'];
/** The kubelet gives up on a request after 15 minutes; the rest allows for clock changes. */
const longestAgeMs = 60 * 60_000;
/** What a kubelet gets, which names no lifetime: the controller-manager's `--cluster-signing-duration`. */
const longestLifetimeSeconds = lifetimes.leafDays * 24 * 3600;
const strongCurves = ['EC prime256v1', 'EC secp384r1', 'EC secp521r1'];

/** The user as which the API server knows a node's kubelet. */
export const userOfNode = (nodeName: string) => `system:node:${nodeName}`;
export const show = (values: readonly string[]) =>
  values.length === 0 ? 'none' : values.join(', ');
export const differs = (expected: string, found: string) => `expected ${expected}; found ${found}`;

/** The request is undecided. */
export const undecided: CsrCheck<CsrRequest> = ({ csr }) =>
  csr.decisions.length === 0 ? undefined : `it is ${show(csr.decisions)} already`;

/** Somebody still waits for the certificate, and it is not for longer than usual. */
export const timely: Checks<CsrRequest> = [
  ['age', ({ csr, now }) => whyTooOld(csr.created, now)],
  [
    'lifetime',
    ({ csr: { expirationSeconds = longestLifetimeSeconds } }) =>
      expirationSeconds <= longestLifetimeSeconds
        ? undefined
        : differs(`at most ${longestLifetimeSeconds} s`, `${expirationSeconds} s`),
  ],
];

/** The request is unambiguous, the requestor has the key, and the key is strong. */
export const provenKey: Checks<Readable> = [
  [
    'request',
    ({ certificate }) =>
      certificate.isAlone ? undefined : 'it is not one PEM block of a certificate request alone',
  ],
  ['key', ({ certificate }) => whyWeak(certificate.key)],
  [
    'signature',
    ({ certificate }) => {
      const signature = certificate.signature();
      return signature === 'valid' ? undefined : whyNotSigned(signature);
    },
  ],
];

export const whyNotSigned = (signature: Exclude<Signature, 'valid'>) =>
  signature === 'invalid'
    ? 'its signature does not match its public key'
    : 'it is signed by an algorithm that is not accepted: expected ECDSA or RSA with SHA-2';

/** Nothing but alternative names is requested, in the encoding of a kubelet. */
export const noExtras: CsrCheck<Readable> = ({
  certificate: { attributes, attributeTypes, names },
}) =>
  encodedAttributes(names).equals(attributes)
    ? undefined
    : differs('alternative names only, as a kubelet encodes them', show(attributeTypes));

/** Nothing at all is requested besides the subject. */
export const noAttributes: CsrCheck<Readable> = ({
  certificate: { attributes, attributeTypes, nameTexts },
}) =>
  encodedAttributes(undefined).equals(attributes)
    ? undefined
    : differs('no extensions', show([...attributeTypes, ...nameTexts]));

/** The judgement by the surrounding object first, and by the PKCS#10 request in it. */
export function judgedBy<T extends CsrRequest>({ outer, inner }: Rules<T>, input: T): CsrJudgement {
  const broken = firstBroken(outer, input);
  if (broken !== undefined) return broken;
  const certificate = input.csr.certificate();
  if ('unreadable' in certificate) return left('request', certificate.unreadable);
  return firstBroken(inner, { ...input, certificate }) ?? { verdict: 'approve' };
}

/** The judgement on a request that violates a rule; the explanation may quote what a stranger has sent. */
export const left = (rule: CsrRule, explanation: string): CsrJudgement => ({
  verdict: 'leave',
  rule,
  explanation: shortened(explanation),
});

/** In characters: enough for the names of an honest request, and for a line of the journal. */
const LONGEST_EXPLANATION = 500;

export const shortened = (text: string): string =>
  text.length <= LONGEST_EXPLANATION ? text : `${text.slice(0, LONGEST_EXPLANATION)} ...`;

function firstBroken<T>(checks: Checks<T>, input: T): CsrJudgement | undefined {
  for (const [rule, check] of checks) {
    const explanation = check(input);
    if (explanation !== undefined) return left(rule, explanation);
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
  { subject, subjectParts }: RequestedCertificate,
  nodeName: string,
): string | undefined {
  const user = userOfNode(nodeName);
  if (encodedSubjects(nodesGroup, user).some((each) => each.equals(subject))) return undefined;
  const found = show(subjectParts.map(([type, value]) => `${type}=${value}`));
  return whyOtherBytes(`O=${nodesGroup}, CN=${user}`, found);
}

/** Exactly this name and these addresses, which are in canonical form. */
export function whyOtherNames(
  { names, nameTexts }: RequestedCertificate,
  dnsName: string,
  addresses: readonly string[],
): string | undefined {
  if (names !== undefined && encodedNames([dnsName], addresses).equals(names)) return undefined;
  const expected = [`DNS:${dnsName}`, ...addresses.toSorted().map((address) => `IP:${address}`)];
  return whyOtherBytes(show(expected), show(nameTexts));
}

/** The text may be the same although the bytes are not. */
const whyOtherBytes = (expected: string, found: string): string =>
  expected === found
    ? `${differs(expected, 'the same')} in another encoding than a kubelet's`
    : differs(expected, found);

/** Key encipherment applies to RSA keys only: kubelets with other keys do not request it. */
function whyOtherUsages(
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

/** The usages of a node's certificate for that side. */
export const usages = (
  side: 'server auth' | 'client auth',
): readonly [CsrRule, CsrCheck<CsrRequest & Readable>] => [
  'usages',
  ({ csr, certificate }) => whyOtherUsages(csr.usages, certificate.key, side),
];

/** Compares as sets: any order, no duplicates. */
export function whyOther(
  found: readonly string[],
  expected: readonly string[],
): string | undefined {
  const same = found.length === expected.length && expected.every((value) => found.includes(value));
  return same ? undefined : differs(show(expected), show(found));
}
