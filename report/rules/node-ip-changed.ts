import type { BundleView, Found, Rule } from '../bundle-view.ts';
import { whereSaid } from '../reading/evidence.ts';
import { factsOf } from '../reading/failure.ts';
import { hostFiles } from '../reading/hosts.ts';
import { objects } from '../reading/objects.ts';
import { aboutFailure, stepFailuresWith } from '../reading/steps.ts';
import { listAt, textAt } from '../reading/values.ts';

/** agents/post-reboot/restore/check-identity.ts, agents/bootkube/handover/snapshot.ts */
export const nodeIpChanged: Rule = {
  name: 'node-ip-changed',
  looksFor:
    "a node address that no interface of the host has, and the agents' refusal to start a host whose name or address changed with the reboot",
  codes: ['identity-changed'],
  todo: 'Restore the old address of the host (DHCP reservation or static configuration) and restart kubelet and bootkube: the certificates and the Node contain the old one.',
  find(view) {
    return [...refusals(view), ...lostAddresses(view)];
  },
};

function refusals(view: BundleView): Found[] {
  return stepFailuresWith(view, 'identity-changed').map((failed) => ({
    ...aboutFailure(failed),
    severity: 'failing',
    title: `The host is not the one that the cluster was created for: ${factsOf(failed.failure)}`,
  }));
}

function lostAddresses(view: BundleView): Found[] {
  const [path] = hostFiles(view, 'network/ip-addr.json');
  if (path === undefined) return [];
  const found = listAt(view.json(path)).flatMap((link) =>
    listAt(link, 'addr_info').flatMap((address) => textAt(address, 'local') ?? []),
  );
  const nodes = objects(view, 'nodes');
  // If there are workers, nothing here says which node is this host.
  const [node] = nodes;
  if (found.length === 0 || node === undefined || nodes.length > 1) return [];
  const addresses = listAt(node.raw, 'status', 'addresses')
    .filter((address) => textAt(address, 'type') === 'InternalIP')
    .flatMap((address) => textAt(address, 'address') ?? []);
  const lost = addresses.filter((address) => !found.includes(address));
  if (lost.length === 0) return [];
  return [
    {
      severity: 'failing',
      title: `Node ${node.name} has ${lost.join(', ')}, which no interface of the host has`,
      evidence: [...node.evidence(), ...whereSaid(view, path, '"local"')],
      todo: `Restore ${lost.join(' and ')} on the host (DHCP reservation or static configuration) and run "systemctl restart kubelet".`,
    },
  ];
}
