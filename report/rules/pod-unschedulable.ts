import type { Rule } from '../bundle-view.ts';
import { conditionOf, fullName, reportedObjects } from '../reading/objects.ts';
import { plural, some } from '../reading/words.ts';

/** Taints of a starting node disappear by themselves. */
const GRACE_MS = 5 * 60_000;
const OF_THE_CLUSTER = /^(kube-|openshift-)/;

export const podUnschedulable: Rule = {
  name: 'pod-unschedulable',
  looksFor:
    "pods that the scheduler has not been able to place for 5 minutes, with the scheduler's message",
  todo: 'Increase the scarce resource (cpu, memory, pods per node), or add the toleration or selector that the message names to the pod.',
  find(view) {
    // The live host of an installation has no node and is not meant to run pods.
    if (reportedObjects(view, 'nodes').length === 0) return [];
    const waiting = reportedObjects(view, 'pods').flatMap((pod) => {
      const scheduled = conditionOf(pod, 'PodScheduled');
      if (scheduled?.status !== 'False' || scheduled.reason !== 'Unschedulable') return [];
      const sinceMs = scheduled.sinceMs ?? pod.createdMs ?? view.atMs;
      return view.atMs - sinceMs < GRACE_MS ? [] : [{ pod, scheduled, sinceMs }];
    });
    const reasons = Map.groupBy(waiting, ({ scheduled }) => scheduled.message);
    return Array.from(reasons, ([message, pods]) => ({
      severity: pods.some(({ pod }) => OF_THE_CLUSTER.test(pod.namespace ?? ''))
        ? 'failing'
        : 'warning',
      title: `${plural(pods.length, 'pod')} cannot be scheduled: ${some(pods.map(({ pod }) => fullName(pod)))}: ${message}`,
      sinceMs: Math.min(...pods.map(({ sinceMs }) => sinceMs)),
      evidence: pods.slice(0, 3).flatMap(({ pod }) => pod.evidence()),
    }));
  },
};
