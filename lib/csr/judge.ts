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
import type { HostView, NodeView } from './views.ts';

/** Everything that a rule may look at. */
interface Case extends Request {
  readonly host: HostView;
  readonly node: NodeView | undefined;
}

/** Checks of the surrounding object. */
const outerChecks: Checks<Case> = [
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
  ...timely,
];

/** Checks of the PKCS#10 request inside. */
const innerChecks: Checks<Case & Readable> = [
  ...provenKey,
  ['subject', ({ certificate, host }) => whyOtherSubject(certificate.subject, host.nodeName)],
  ['extensions', noExtras],
  ['usages', ({ csr, certificate }) => whyOtherUsages(csr.usages, certificate.key, 'server auth')],
  ['other-names', noOtherNames],
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
  return judged(outerChecks, innerChecks, { csr, host, node, now });
}

function whyHostNameNotFinal({ nodeName, staticHostName }: HostView): string | undefined {
  const isTemporary = (name: string) => name === '' || /^localhost(\.|$)/i.test(name);
  const temporary = [nodeName, staticHostName].find(isTemporary);
  if (temporary !== undefined) return `the host has no name of its own yet: '${temporary}'`;
  if (staticHostName.toLowerCase() === nodeName) return undefined;
  return differs(`${nodeName} in /etc/hostname`, staticHostName);
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
