import type { Rule } from '../bundle-view.ts';
import { hasInstalledHost } from '../reading/hosts.ts';
import { conditionOf, reportedObjects } from '../reading/objects.ts';
import { runtimeCondition } from '../reading/runtime.ts';

const CNI = /NetworkPluginNotReady|NetworkReady=false|cni (?:config|plugin)|No CNI configuration/i;

export const networkPluginNotReady: Rule = {
  name: 'network-plugin-not-ready',
  looksFor:
    "an installed host without a working CNI plugin, by the runtime's condition NetworkReady or the Node's own message (the live host has none on purpose)",
  todo: 'Check that the pods of the network plugin are running (kube-system, openshift-ovn-kubernetes, openshift-multus) and that /etc/cni/net.d or /etc/kubernetes/cni/net.d has its configuration.',
  find(view) {
    if (!hasInstalledHost(view)) return [];
    const condition = runtimeCondition(view, 'NetworkReady');
    const nodes = reportedObjects(view, 'nodes').filter((node) => {
      const ready = conditionOf(node, 'Ready');
      return ready?.status !== 'True' && CNI.test(`${ready?.reason} ${ready?.message}`);
    });
    const [node] = nodes;
    if (condition?.isTrue !== false && node === undefined) return [];
    const ready = node === undefined ? undefined : conditionOf(node, 'Ready');
    return [
      {
        severity: node === undefined ? 'warning' : 'failing',
        title: `Pods have no network: ${condition?.isTrue === false ? condition.message : (ready?.message ?? '')}`,
        sinceMs: ready?.sinceMs,
        evidence: [...(condition?.evidence ?? []), ...(node?.evidence() ?? [])],
      },
    ];
  },
};
