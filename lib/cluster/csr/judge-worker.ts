import { clientSigner, servingSigner } from '../../clients/kube/signers.ts';
import { bootstrapperGroups, bootstrapperName } from '../../clients/rights/bootstrappers.ts';
import type { AllowedMember, AllowedWorker } from '../workers/entry.ts';
import {
  type Checks,
  type CsrJudgement,
  type CsrRequest,
  differs,
  judgedBy,
  left,
  noAttributes,
  nodeGroups,
  noExtras,
  provenKey,
  type Readable,
  type Rules,
  show,
  timely,
  undecided,
  usages,
  userOfNode,
  whyOther,
  whyOtherNames,
  whyOtherSubject,
} from './checks.ts';
import type { RequestedCertificate } from './requested-certificate.ts';
import type { SigningRequest } from './signing-request.ts';
import type { NodeView } from './views.ts';

/** What a request of a worker is compared with. */
export interface WorkersView {
  /** Name of the control plane's own node: no worker ever gets it. */
  readonly ownName: string;
  readonly allowed: readonly AllowedWorker[];
  readonly nodes: ReadonlyMap<string, NodeView>;
}

/** The same, where instead of the list those count that have joined. */
export interface RenewalView extends WorkersView {
  readonly allowed: readonly AllowedMember[];
}

interface Case extends CsrRequest {
  readonly view: WorkersView;
}

/** The entry and the Node of a name; undefined where there is none. */
const workerOf = ({ allowed }: WorkersView, name: string | undefined) =>
  allowed.find((worker) => worker.name === name);
const nodeIn = ({ nodes }: WorkersView, name: string | undefined) =>
  name === undefined ? undefined : nodes.get(name);

/** `nameOf`: the node that the request is for; undefined if it names none. */
const isOnList = <T extends Case>(nameOf: (input: T) => string | undefined): Checks<T> => [
  [
    'worker',
    (input) => {
      const { ownName } = input.view;
      const name = nameOf(input);
      if (name === undefined) return 'it names no node';
      if (name === ownName) return `${name} is the node of the control plane`;
      const worker = workerOf(input.view, name);
      return worker === undefined ? `${name} is not in the list of allowed workers` : undefined;
    },
  ],
  [
    'expiry',
    (input) => {
      const worker = workerOf(input.view, nameOf(input));
      return worker === undefined || input.now < worker.expires
        ? undefined
        : `the entry of ${worker.name} expired at ${worker.expires.toISOString()}`;
    },
  ],
];

/** Of a host that has a bootstrap token and nothing else. */
export const firstRules: Rules<Case> = {
  outer: [
    ['pending', undecided],
    [
      'requestor',
      ({ csr }) =>
        bootstrapperName.test(csr.username)
          ? undefined
          : differs('the holder of a bootstrap token', csr.username || 'nobody'),
    ],
    ['groups', ({ csr }) => whyOther(csr.groups, bootstrapperGroups)],
    ...timely,
  ],
  inner: [
    ...isOnList<Case & Readable>(({ certificate }) => requestedNode(certificate)),
    ...provenKey,
    [
      'fingerprint',
      ({ view, certificate }) => {
        const worker = workerOf(view, requestedNode(certificate));
        return worker?.keySha256 === undefined || worker.keySha256 === certificate.keySha256
          ? undefined
          : differs(`the key sha256:${worker.keySha256}`, `sha256:${certificate.keySha256}`);
      },
    ],
    [
      'subject',
      ({ certificate }) => whyOtherSubject(certificate, requestedNode(certificate) ?? ''),
    ],
    ['extensions', noAttributes],
    usages('client auth'),
    [
      'node-exists',
      ({ view, certificate }) => {
        const name = requestedNode(certificate);
        const isKeyed = workerOf(view, name)?.keySha256 !== undefined;
        return nodeIn(view, name) === undefined || isKeyed
          ? undefined
          : `the cluster has a node ${name}: another host would take its place. Delete the Node, or give the entry the fingerprint of the key`;
      },
    ],
  ],
};

/** Of a worker that has registered its Node. */
export const servingRules: Rules<Case> = {
  outer: [
    ['pending', undecided],
    ...isOnList<Case>(({ csr }) => nodeOf(csr.username)),
    ['groups', ({ csr }) => whyOther(csr.groups, nodeGroups)],
    ['credential', ({ csr }) => whyNoCertificate(csr.credentials)],
    ...timely,
  ],
  inner: [
    ...provenKey,
    ['subject', ({ csr, certificate }) => whyOtherSubject(certificate, nodeOf(csr.username) ?? '')],
    ['extensions', noExtras],
    usages('server auth'),
    [
      'node-exists',
      ({ csr, view }) => {
        const name = nodeOf(csr.username);
        const { uid } = nodeIn(view, name) ?? {};
        const { nodeUid = uid } = workerOf(view, name) ?? {};
        return nodeUid === uid
          ? undefined
          : `the node ${name} is not the one that joined: it was deleted and registered again`;
      },
    ],
    [
      'node-addresses',
      ({ csr, view }) => {
        const name = nodeOf(csr.username);
        const node = nodeIn(view, name);
        if (node === undefined) return 'the API has no such node yet';
        if (allowedAddresses(view, name).length > 0) return undefined;
        return `none of the node's addresses (${show(node.internalIps)}) is one of its entry (${show(workerOf(view, name)?.addresses ?? [])})`;
      },
    ],
    [
      'names',
      ({ csr, view, certificate }) => {
        const name = nodeOf(csr.username);
        return whyOtherNames(certificate, name ?? '', allowedAddresses(view, name));
      },
    ],
  ],
};

/**
 * Whether a request is one of an allowed worker. Its first client certificate is requested with a
 * bootstrap token, which every worker has: only the list decides for which name. Its serving
 * certificate is requested by the node itself, for exactly its name and those addresses that both
 * its Node and its entry have.
 */
export function judgeWorker(
  csr: SigningRequest,
  view: WorkersView,
  now: Date,
  rules = { first: firstRules, serving: servingRules },
): CsrJudgement {
  if (csr.signerName === clientSigner) return judgedBy(rules.first, { csr, now, view });
  if (csr.signerName === servingSigner) return judgedBy(rules.serving, { csr, now, view });
  return left('signer', differs(`${clientSigner} or ${servingSigner}`, csr.signerName));
}

/**
 * Whether a request is that of a worker which has joined, for its next serving certificate. What a worker has
 * got once allows no first certificate: for that, only an entry of the list counts.
 */
export function judgeRenewal(csr: SigningRequest, view: RenewalView, now: Date): CsrJudgement {
  if (csr.signerName === servingSigner) return judgedBy(servingRules, { csr, now, view });
  return left('signer', differs(servingSigner, csr.signerName));
}

/** Whether it names a worker of the list, rightly or not. Of a stranger, not even that is read. */
export function isOfAllowedWorker(
  csr: SigningRequest,
  { allowed }: Pick<WorkersView, 'allowed'>,
): boolean {
  const isFirst = csr.signerName === clientSigner && bootstrapperName.test(csr.username);
  const certificate = isFirst ? csr.certificate() : undefined;
  const named =
    certificate === undefined || 'unreadable' in certificate
      ? nodeOf(csr.username)
      : requestedNode(certificate);
  return allowed.some(({ name }) => name === named);
}

/**
 * Whether a request is not for the list to decide: those of the control plane's own node, and
 * renewals of client certificates, which the controller-manager approves for the node itself.
 */
export function isDecidedElsewhere(
  {
    username = '',
    signerName,
  }: { readonly username?: string | undefined; readonly signerName: string },
  ownName: string,
): boolean {
  if (username === userOfNode(ownName)) return true;
  return signerName === clientSigner && nodeOf(username) !== undefined;
}

const NODE_USER = /^system:node:(.+)$/;
const nodeOf = (user: string): string | undefined => NODE_USER.exec(user)?.[1];

/** The node that the subject names, if it names exactly one. */
function requestedNode({ subjectParts }: RequestedCertificate): string | undefined {
  const names = subjectParts.filter(([type]) => type === 'CN').map(([, value]) => value);
  return names.length === 1 ? nodeOf(names[0] ?? '') : undefined;
}

/** An impersonated node presents no client certificate of its own. */
function whyNoCertificate(credentials: readonly string[]): string | undefined {
  const [credential = ''] = credentials;
  return credentials.length === 1 && /^X509SHA256=[0-9a-f]{64}$/.test(credential)
    ? undefined
    : differs("the digest of the node's client certificate", show(credentials));
}

/** The addresses that both its Node and its entry have: those of its serving certificate. */
export function allowedAddresses(view: WorkersView, name: string | undefined): readonly string[] {
  const internal = nodeIn(view, name)?.internalIps ?? [];
  const { addresses = [] } = workerOf(view, name) ?? {};
  return [...new Set(internal.filter((address) => addresses.includes(address)))];
}
