import type { Rule } from '../bundle-view.ts';
import { RESTORE } from '../reading/etcd-advice.ts';
import { hostFilesIn } from '../reading/hosts.ts';
import { lastError, newestContainers, type RuntimeContainer } from '../reading/pods.ts';
import { duration } from '../reading/words.ts';

/** A component may fail once or twice while its dependencies start. */
const MIN_ATTEMPT = 3;
/** A container that has run longer is stable: the kubelet's back-off resets then too (pkg/kubelet/kubelet.go, 2 × 5 min). */
const SETTLED_MS = 10 * 60_000;
const CONTROL_PLANE =
  /^(bootstrap-)?(etcd|kube-apiserver|kube-controller-manager|kube-scheduler|machine-config-operator|cluster-version-operator)\b/;

export const staticPodCrashLooping: Rule = {
  name: 'static-pod-crash-looping',
  looksFor:
    'a container of a static pod that the container runtime has started at least 4 times, and that is not running or started in the last 10 minutes',
  todo: `Read the end of its log: containers/NAME-ID.log in the bundle, /var/log/pods on the host. If etcd's log says that its data is damaged: ${RESTORE}`,
  find(view) {
    const manifests = hostFilesIn(view, 'static-pods/').map(
      (path) => /([^/]+)\.(?:ya?ml|json)$/.exec(path)?.[1] ?? '/',
    );
    const isStatic = ({ pod }: RuntimeContainer) =>
      CONTROL_PLANE.test(pod) ||
      manifests.some((name) => pod.startsWith(name.replace(/-pod$/, '')) && name.length > 3);
    return newestContainers(view)
      .filter((one) => isStatic(one) && one.attempt >= MIN_ATTEMPT)
      .filter(({ isRunning, startedMs, exitCode }) =>
        isRunning ? view.atMs - (startedMs ?? 0) < SETTLED_MS : exitCode !== 0,
      )
      .map((one) => {
        const { name, namespace, pod, attempt, isRunning, exitCode, reason, id } = one;
        const ended =
          exitCode === undefined
            ? ''
            : `, last with exit code ${exitCode}${reason ? ` (${reason})` : ''}`;
        const state = isRunning
          ? `it has been running for ${duration(view.atMs - (one.startedMs ?? view.atMs))}`
          : `it is down${ended}`;
        return {
          severity: 'failing',
          title: `${name} of the static pod ${namespace}/${pod} has been started ${attempt + 1} times, ${state}`,
          evidence: [...one.evidence(), ...lastError(view, one)],
          todo: `Read the end of its log: containers/${name}-${id.slice(0, 12)}… in the bundle, /var/log/pods/${namespace}_${pod}_* on the host.${name === 'etcd' ? ` If it says that its data is damaged: ${RESTORE}` : ''}`,
        };
      });
  },
};
