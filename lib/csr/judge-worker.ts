import { bootstrapperGroups, bootstrapperName } from '../workers/bootstrappers.ts';
import type { AllowedWorker } from '../workers/entry.ts';
import {
  type Checks,
  differs,
  type Judgement,
  judged,
  nodeGroups,
  noExtras,
  noOtherNames,
  provenKey,
  type Readable,
  type Request,
  servingSigner,
  show,
  timely,
  undecided,
  userOfNode,
  whyOther,
  whyOtherSubject,
  whyOtherUsages,
} from './checks.ts';
import type { SigningRequest } from './signing-request.ts';
import type { NodeView } from './views.ts';

export const clientSigner = 'kubernetes.io/kube-apiserver-client-kubelet';

/** What a request of a worker is compared with. */
export interface WorkersView {
  /** Name of the control plane's own node: no worker ever gets it. */
  readonly ownName: string;
  readonly allowed: readonly AllowedWorker[];
  readonly nodes: ReadonlyMap<string, NodeView>;
}

interface Case extends Request {
  readonly ownName: string;
  /** The name that the request is for; undefined if it names no node. */
  readonly name: string | undefined;
  readonly worker: AllowedWorker | undefined;
  readonly node: NodeView | undefined;
}

const isOnList: Checks<Case> = [
  [
    'worker',
    ({ name, ownName, worker }) => {
      if (name === undefined) return 'it names no node';
      if (name === ownName) return `${name} is the node of the control plane`;
      return worker === undefined ? `${name} is not in the list of allowed workers` : undefined;
    },
  ],
  [
    'expiry',
    ({ worker, now }) =>
      worker === undefined || now < worker.expires
        ? undefined
        : `the entry of ${worker.name} expired at ${worker.expires.toISOString()}`,
  ],
];

/** Of a host that has a bootstrap token and nothing else. */
const firstOuter: Checks<Case> = [
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
];

const firstInner: Checks<Case & Readable> = [
  ...isOnList,
  ...provenKey,
  [
    'fingerprint',
    ({ worker, certificate }) =>
      worker?.keySha256 === undefined || worker.keySha256 === certificate.keySha256
        ? undefined
        : differs(`the key sha256:${worker.keySha256}`, `sha256:${certificate.keySha256}`),
  ],
  ['subject', ({ certificate, name }) => whyOtherSubject(certificate.subject, name ?? '')],
  ['extensions', noExtras],
  ['usages', ({ csr, certificate }) => whyOtherUsages(csr.usages, certificate.key, 'client auth')],
  ['other-names', noOtherNames],
  ['dns-names', ({ certificate }) => whyOther(certificate.dnsNames, [])],
  ['ip-addresses', ({ certificate }) => whyOther(certificate.ipAddresses, [])],
  [
    'node-exists',
    ({ node, worker }) =>
      node === undefined || worker?.keySha256 !== undefined
        ? undefined
        : `the cluster has a node ${node.name}: another host would take its place. Delete the Node, or give the entry the fingerprint of the key`,
  ],
];

/** Of a worker that has registered its Node. */
const servingOuter: Checks<Case> = [
  ['pending', undecided],
  ...isOnList,
  ['groups', ({ csr }) => whyOther(csr.groups, nodeGroups)],
  ...timely,
];

const servingInner: Checks<Case & Readable> = [
  ...provenKey,
  ['subject', ({ certificate, name }) => whyOtherSubject(certificate.subject, name ?? '')],
  ['extensions', noExtras],
  ['usages', ({ csr, certificate }) => whyOtherUsages(csr.usages, certificate.key, 'server auth')],
  ['other-names', noOtherNames],
  ['dns-names', ({ certificate, name }) => whyOther(certificate.dnsNames, [name ?? ''])],
  [
    'node-addresses',
    ({ node, worker }) => {
      if (node === undefined) return 'the API has no such node yet';
      if (allowedAddresses(node, worker).length > 0) return undefined;
      return `none of the node's addresses (${show(node.internalIps)}) is one of its entry (${show(worker?.addresses ?? [])})`;
    },
  ],
  [
    'ip-addresses',
    ({ certificate, node, worker }) =>
      whyOther(certificate.ipAddresses, allowedAddresses(node, worker)),
  ],
];

/**
 * Whether a request is one of an allowed worker. Its first client certificate is requested with a
 * bootstrap token, which every worker has: only the list decides for which name. Its serving
 * certificate is requested by the node itself, for exactly its name and those addresses that both
 * its Node and its entry have.
 */
export function judgeWorker(csr: SigningRequest, view: WorkersView, now: Date): Judgement {
  const isFirst = csr.signerName === clientSigner;
  if (!isFirst && csr.signerName !== servingSigner) {
    const explanation = differs(`${clientSigner} or ${servingSigner}`, csr.signerName);
    return { verdict: 'leave', rule: 'signer', explanation };
  }
  const name = isFirst ? requestedNode(csr) : nodeOf(csr.username);
  const input: Case = {
    csr,
    now,
    name,
    ownName: view.ownName,
    worker: view.allowed.find((worker) => worker.name === name),
    node: name === undefined ? undefined : view.nodes.get(name),
  };
  return isFirst
    ? judged(firstOuter, firstInner, input)
    : judged(servingOuter, servingInner, input);
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
function requestedNode({ certificate }: SigningRequest): string | undefined {
  if ('unreadable' in certificate) return undefined;
  const names = certificate.subject.filter(([type]) => type === 'CN').map(([, value]) => value);
  return names.length === 1 ? nodeOf(names[0] ?? '') : undefined;
}

function allowedAddresses(
  node: NodeView | undefined,
  worker: AllowedWorker | undefined,
): readonly string[] {
  const internal = node?.internalIps ?? [];
  return [...new Set(internal.filter((address) => worker?.addresses.includes(address)))];
}
