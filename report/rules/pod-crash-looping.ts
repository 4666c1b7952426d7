import type { Rule } from '../bundle-view.ts';
import { fullName, reportedObjects } from '../reading/objects.ts';
import { containerStatuses } from '../reading/pods.ts';
import { at } from '../reading/values.ts';

/** Mirror pods of static pods, which have their own rule. */
const isMirror = (raw: unknown): boolean =>
  at(raw, 'metadata', 'annotations', 'kubernetes.io/config.mirror') !== undefined;

export const podCrashLooping: Rule = {
  name: 'pod-crash-looping',
  looksFor:
    'a container of any other pod that the kubelet restarts with a delay (CrashLoopBackOff)',
  todo: 'Find out why it ended: resources/pod-logs in the bundle, "kubectl logs --previous" on the cluster.',
  find(view) {
    return reportedObjects(view, 'pods')
      .filter(({ raw }) => !isMirror(raw))
      .flatMap((pod) =>
        containerStatuses(pod)
          .filter(({ reason }) => reason === 'CrashLoopBackOff')
          .map(({ name, restarts, message }) => ({
            severity: 'warning',
            title: `${name} of ${fullName(pod)} keeps crashing: ${restarts} restarts${message ? `, ${message}` : ''}`,
            evidence: pod.evidence(),
            todo: `Run "kubectl logs --previous ${pod.name} --namespace ${pod.namespace ?? 'default'} --container ${name}", or see resources/pod-logs in the bundle.`,
          })),
      );
  },
};
