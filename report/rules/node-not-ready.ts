import type { Rule } from '../bundle-view.ts';
import { conditionOf, reportedObjects } from '../reading/objects.ts';
import { duration } from '../reading/words.ts';

/** Time for a new node to get its CNI plugin and its first status. */
const GRACE_MS = 3 * 60_000;

export const nodeNotReady: Rule = {
  name: 'node-not-ready',
  looksFor: "a Node whose condition Ready is not True, with the kubelet's own reason",
  todo: 'Fix what the condition reports. "Unknown" means that the kubelet does not send its status: see journals/kubelet.log.',
  find(view) {
    return reportedObjects(view, 'nodes').flatMap((node) => {
      const ready = conditionOf(node, 'Ready');
      if (ready?.status === 'True') return [];
      const sinceMs = ready?.sinceMs ?? node.createdMs;
      const isNew = view.atMs - (node.createdMs ?? 0) < GRACE_MS;
      const since = sinceMs === undefined ? '' : ` for ${duration(view.atMs - sinceMs)}`;
      return [
        {
          severity: isNew ? 'warning' : 'failing',
          title: `Node ${node.name} has not been ready${since}: ${ready?.message || ready?.reason || 'it has no condition Ready'}`,
          sinceMs,
          evidence: node.evidence(),
        },
      ];
    });
  },
};
