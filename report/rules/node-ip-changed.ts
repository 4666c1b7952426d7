import type { BundleView, Evidence, Found, Rule } from '../bundle-view.ts';
import { whereSaid } from '../reading/evidence.ts';
import { factsOf, fixOf } from '../reading/failure.ts';
import { hostFiles } from '../reading/hosts.ts';
import { START_COMMANDS, startCommand } from '../reading/installation.ts';
import { reportedObjects } from '../reading/objects.ts';
import { aboutFailure, stepFailuresWith } from '../reading/steps.ts';
import { listAt, textAt } from '../reading/values.ts';

/** In /etc/sno-agents/kubelet.env. */
const NODE_IPS = 'KUBELET_NODE_IPS=';

/**
 * agents/post-reboot/restore/check-identity.ts, agents/bootkube/handover/snapshot.ts, agents/aiokube/host-identity.ts,
 * agents/upkeep/address/not-followed.ts
 */
export const nodeIpChanged: Rule = {
  name: 'node-ip-changed',
  looksFor:
    "an address of the Node, or of the kubelet's configuration, that no interface of the host has, the agents' refusal of a host whose name or address changed during the installation, and an address that has moved since and is not followed",
  codes: ['identity-changed', 'address-moved'],
  todo: `Restore the old address of the host (DHCP reservation or static configuration), since the certificates and the Node contain it. Then ${START_COMMANDS}.`,
  find(view) {
    const moved = movedAddresses(view);
    return [...refusals(view), ...(moved.length > 0 ? moved : lostAddresses(view))];
  },
};

function refusals(view: BundleView): Found[] {
  return stepFailuresWith(view, 'identity-changed').map((failed) => ({
    ...aboutFailure(failed),
    severity: 'failing',
    title: `The host is not the one that the cluster was created for: ${factsOf(failed.failure)}`,
    todo: fixOf(failed.failure) ?? restore('the old name and address', view),
  }));
}

/** It names both addresses, and so says more than what the Node and the interfaces have. */
function movedAddresses(view: BundleView): Found[] {
  return stepFailuresWith(view, 'address-moved').map((failed) => ({
    ...aboutFailure(failed),
    severity: 'failing',
    title: `The host is not where its Node is: ${factsOf(failed.failure)}`,
    todo: fixOf(failed.failure) ?? nodeIpChanged.todo,
  }));
}

const restore = (what: string, view: BundleView) =>
  `Restore ${what} on the host (DHCP reservation or static configuration), then run "${startCommand(view)}".`;

interface Registered {
  /** Whose addresses they are. */
  readonly by: string;
  readonly addresses: readonly string[];
  readonly evidence: readonly Evidence[];
}

/** The Node's addresses; the kubelet's configuration if the API does not answer. */
function registered(view: BundleView): Registered | undefined {
  const nodes = reportedObjects(view, 'nodes');
  const [node] = nodes;
  if (node !== undefined) {
    const addresses = listAt(node.raw, 'status', 'addresses')
      .filter((address) => textAt(address, 'type') === 'InternalIP')
      .flatMap((address) => textAt(address, 'address') ?? []);
    // If there are workers, nothing here says which node is this host.
    if (nodes.length > 1) return undefined;
    return { by: `Node ${node.name}`, addresses, evidence: node.evidence() };
  }
  const [path] = hostFiles(view, 'kubelet/environment.txt');
  if (path === undefined) return undefined;
  const line = view.lines(path).find((text) => text.startsWith(NODE_IPS));
  const addresses = line?.slice(NODE_IPS.length).split(',') ?? [];
  return {
    by: "The kubelet's configuration",
    addresses,
    evidence: whereSaid(view, path, NODE_IPS),
  };
}

function lostAddresses(view: BundleView): Found[] {
  const [path] = hostFiles(view, 'network/ip-addr.json');
  const wanted = registered(view);
  if (path === undefined || wanted === undefined) return [];
  const found = listAt(view.json(path)).flatMap((link) =>
    listAt(link, 'addr_info').flatMap((address) => textAt(address, 'local') ?? []),
  );
  const lost = wanted.addresses.filter((address) => !found.includes(address));
  if (found.length === 0 || lost.length === 0) return [];
  return [
    {
      severity: 'failing',
      title: `${wanted.by} has ${lost.join(', ')}, which no interface of the host has`,
      evidence: [...wanted.evidence, ...whereSaid(view, path, '"local"')],
      todo: restore(lost.join(' and '), view),
    },
  ];
}
