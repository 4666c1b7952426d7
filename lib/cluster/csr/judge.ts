import { servingSigner } from '../../clients/kube/signers.ts';
import {
  type CsrJudgement,
  type CsrRequest,
  differs,
  judgedBy,
  nodeGroups,
  noExtras,
  provenKey,
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
import type { SigningRequest } from './signing-request.ts';
import type { HostView, NodeView } from './views.ts';

/** What a request of this host's node is compared with: both must agree. */
export interface OwnView {
  readonly host: HostView;
  /** Undefined while the API has no such node. */
  readonly node: NodeView | undefined;
}

/** Everything that a rule may look at. */
export interface OwnCase extends CsrRequest, OwnView {}

export const ownRules: Rules<OwnCase> = {
  outer: [
    ['pending', undecided],
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
    ['groups', ({ csr }) => whyOther(csr.groups, nodeGroups)],
    ['credential', ({ csr, host }) => whyOtherCredential(csr, host)],
    ...timely,
  ],
  inner: [
    ...provenKey,
    ['subject', ({ certificate, host }) => whyOtherSubject(certificate, host.nodeName)],
    ['extensions', noExtras],
    usages('server auth'),
    ['node-addresses', ({ host, node }) => whyNoAddress(host, node)],
    [
      'names',
      ({ certificate, host, node }) =>
        whyOtherNames(certificate, host.nodeName, ownAddresses(host, node)),
    ],
  ],
};

/**
 * Whether a request is this node's own, for its serving certificate: requested by the node itself,
 * with the client certificate that the host has, for exactly the name and addresses that the host
 * has too. Client certificates are never approved here, regardless of the requestor.
 */
export function judge(
  csr: SigningRequest,
  { host, node }: OwnView,
  now: Date,
  rules: Rules<OwnCase> = ownRules,
): CsrJudgement {
  return judgedBy(rules, { csr, host, node, now });
}

function whyHostNameNotFinal({ nodeName, staticHostName }: HostView): string | undefined {
  const isTemporary = (name: string) => name === '' || /^localhost(\.|$)/i.test(name);
  const temporary = [nodeName, staticHostName].find(isTemporary);
  if (temporary !== undefined) return `the host has no name of its own yet: '${temporary}'`;
  if (staticHostName.toLowerCase() === nodeName) return undefined;
  return differs(`${nodeName} in /etc/hostname`, staticHostName);
}

/** An administrator who impersonates the node has another credential, as has a node that was copied earlier. */
function whyOtherCredential(
  { credentials }: SigningRequest,
  { clientCertificate }: HostView,
): string | undefined {
  if (clientCertificate === undefined) return 'the kubelet of this host has no client certificate';
  return whyOther(credentials, [`X509SHA256=${clientCertificate}`]);
}

function ownAddresses(host: HostView, node: NodeView | undefined): string[] {
  const internal = node?.name === host.nodeName ? node.internalIps : [];
  return [...new Set(internal.filter((address) => host.nodeIps.includes(address)))];
}

function whyNoAddress(host: HostView, node: NodeView | undefined): string | undefined {
  if (node === undefined) return `the API has no node ${host.nodeName} yet`;
  if (ownAddresses(host, node).length > 0) return undefined;
  return `none of the node's addresses (${show(node.internalIps)}) is one of the host (${show(host.nodeIps)})`;
}
