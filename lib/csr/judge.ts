import type { RequestedCertificate } from './requested-certificate.ts';
import type { SigningRequest } from './signing-request.ts';
import type { HostView, NodeView } from './views.ts';

export type Rule =
  | 'pending'
  | 'signer'
  | 'host-name'
  | 'requestor'
  | 'groups'
  | 'age'
  | 'request'
  | 'signature'
  | 'key'
  | 'subject'
  | 'extensions'
  | 'usages'
  | 'lifetime'
  | 'dns-names'
  | 'other-names'
  | 'node-addresses'
  | 'ip-addresses';

export type Judgement =
  | { readonly verdict: 'approve' }
  /** Left pending, never denied: the rule that it violates, and how, for people. */
  | { readonly verdict: 'leave'; readonly rule: Rule; readonly explanation: string };

/** Everything that a rule may look at. */
interface Case {
  readonly csr: SigningRequest;
  readonly host: HostView;
  readonly node: NodeView | undefined;
  readonly now: Date;
}
type Check<T> = (input: T) => string | undefined;

export const servingSigner = 'kubernetes.io/kubelet-serving';
const nodesGroup = 'system:nodes';
/** The kubelet gives up on a request after 15 minutes; the rest allows for clock changes. */
const longestAgeMs = 60 * 60_000;
const longestLifetimeSeconds = 30 * 24 * 3600;
const strongCurves = ['EC prime256v1', 'EC secp384r1', 'EC secp521r1'];

/** The user as which the API server knows a node's kubelet. */
export const userOfNode = (nodeName: string) => `system:node:${nodeName}`;
const show = (values: readonly string[]) => (values.length === 0 ? 'none' : values.join(', '));
const differs = (expected: string, found: string) => `expected ${expected}; found ${found}`;

/** Checks of the surrounding object. */
const outerChecks: readonly (readonly [Rule, Check<Case>])[] = [
  [
    'pending',
    ({ csr }) => (csr.decisions.length === 0 ? undefined : `it is ${show(csr.decisions)} already`),
  ],
  [
    'signer',
    ({ csr }) =>
      csr.signerName === servingSigner ? undefined : differs(servingSigner, csr.signerName),
  ],
  ['host-name', ({ host }) => whyHostNameNotFinal(host)],
  [
    'requestor',
    ({ csr, host }) =>
      csr.username === userOfNode(host.nodeName)
        ? undefined
        : differs(userOfNode(host.nodeName), csr.username || 'nobody'),
  ],
  ['groups', ({ csr }) => whyOther(csr.groups, [nodesGroup, 'system:authenticated'])],
  ['age', ({ csr, now }) => whyTooOld(csr.created, now)],
  [
    'lifetime',
    ({ csr }) =>
      (csr.expirationSeconds ?? 0) <= longestLifetimeSeconds
        ? undefined
        : differs(`at most ${longestLifetimeSeconds} s`, `${csr.expirationSeconds} s`),
  ],
];

/** Checks of the PKCS#10 request inside. */
const innerChecks: readonly (readonly [
  Rule,
  Check<Case & { readonly certificate: RequestedCertificate }>,
])[] = [
  [
    'signature',
    ({ certificate }) =>
      certificate.signatureIsValid ? undefined : 'its signature does not match its public key',
  ],
  ['key', ({ certificate }) => whyWeak(certificate.key)],
  ['subject', ({ certificate, host }) => whyOtherSubject(certificate.subject, host.nodeName)],
  [
    'extensions',
    ({ certificate: { extras } }) =>
      extras.length === 0 ? undefined : differs('alternative names only', show(extras)),
  ],
  ['usages', ({ csr, certificate }) => whyOtherUsages(csr.usages, certificate.key)],
  [
    'other-names',
    ({ certificate: { otherNames } }) =>
      otherNames.length === 0
        ? undefined
        : differs('DNS names and addresses only', show(otherNames)),
  ],
  ['dns-names', ({ certificate, host }) => whyOther(certificate.dnsNames, [host.nodeName])],
  ['node-addresses', ({ host, node }) => whyNoAddress(host, node)],
  [
    'ip-addresses',
    ({ certificate, host, node }) => whyOther(certificate.ipAddresses, ownAddresses(host, node)),
  ],
];

/**
 * Whether a request is this node's own, for its serving certificate: requested by
 * the node itself, for exactly the name and addresses that the host has too. Client
 * certificates are never approved here, regardless of the requestor.
 */
export function judge(
  csr: SigningRequest,
  host: HostView,
  node: NodeView | undefined,
  now: Date,
): Judgement {
  const outer = { csr, host, node, now };
  const broken = firstBroken(outerChecks, outer);
  if (broken !== undefined) return broken;
  const { certificate } = csr;
  if ('unreadable' in certificate) {
    return { verdict: 'leave', rule: 'request', explanation: certificate.unreadable };
  }
  return firstBroken(innerChecks, { ...outer, certificate }) ?? { verdict: 'approve' };
}

function firstBroken<T>(
  checks: readonly (readonly [Rule, Check<T>])[],
  input: T,
): Judgement | undefined {
  for (const [rule, check] of checks) {
    const explanation = check(input);
    if (explanation !== undefined) return { verdict: 'leave', rule, explanation };
  }
  return undefined;
}

function whyHostNameNotFinal({ nodeName, staticHostName }: HostView): string | undefined {
  const isTemporary = (name: string) => name === '' || /^localhost(\.|$)/i.test(name);
  const temporary = [nodeName, staticHostName].find(isTemporary);
  if (temporary !== undefined) return `the host has no name of its own yet: '${temporary}'`;
  if (staticHostName.toLowerCase() === nodeName) return undefined;
  return differs(`${nodeName} in /etc/hostname`, staticHostName);
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

function whyOtherSubject(
  subject: RequestedCertificate['subject'],
  nodeName: string,
): string | undefined {
  return whyOther(
    subject.map(([type, value]) => `${type}=${value}`),
    [`O=${nodesGroup}`, `CN=${userOfNode(nodeName)}`],
  );
}

/** Key encipherment applies to RSA keys only: kubelets with other keys do not request it. */
function whyOtherUsages(usages: readonly string[], key: string): string | undefined {
  const needed = ['digital signature', 'server auth'];
  if (!key.startsWith('RSA')) return whyOther(usages, needed);
  const withoutOptional = usages.filter((usage) => usage !== 'key encipherment');
  return usages.length - withoutOptional.length > 1
    ? whyOther(usages, needed)
    : whyOther(withoutOptional, needed);
}

function ownAddresses(host: HostView, node: NodeView | undefined): string[] {
  const internal = node?.name === host.nodeName ? node.internalIps : [];
  return [...new Set(internal.filter((address) => host.interfaceAddresses.includes(address)))];
}

function whyNoAddress(host: HostView, node: NodeView | undefined): string | undefined {
  if (node === undefined) return `the API has no node ${host.nodeName} yet`;
  if (ownAddresses(host, node).length > 0) return undefined;
  return `none of the node's addresses (${show(node.internalIps)}) is on an interface with ${show(host.nodeIps)} (${show(host.interfaceAddresses)})`;
}

/** Compares as sets: any order, no duplicates. */
function whyOther(found: readonly string[], expected: readonly string[]): string | undefined {
  const same = found.length === expected.length && expected.every((value) => found.includes(value));
  return same ? undefined : differs(show(expected), show(found));
}
