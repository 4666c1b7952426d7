import type { BundleView, Evidence, Rule } from '../bundle-view.ts';
import { hostFiles } from '../reading/hosts.ts';
import { lastLike } from '../reading/journal.ts';
import { type ApiObject, conditionOf, fullName, reportedObjects } from '../reading/objects.ts';
import { containerStatuses } from '../reading/pods.ts';
import { at, listAt, msAt, textAt } from '../reading/values.ts';
import { duration, plural, some } from '../reading/words.ts';

/** Volumes are attached, and a sandbox is made, within seconds; a large volume takes minutes. */
const GRACE_MS = 5 * 60_000;
/** The kubelet reports a volume that it waits for every two minutes, with growing pauses. */
const SAID_MS = 15 * 60_000;
/** Of a pod none of whose containers was ever started; what waits for an image is found apart. */
const WAITING = /^(ContainerCreating|PodInitializing)$/;
const EVENTS =
  /^(FailedCreatePodSandBox|FailedMount|FailedAttachVolume|FailedMapVolume|FailedCreatePodContainer|NetworkNotReady)$/;
const LINE =
  /CreatePodSandbox|Unable to attach or mount volumes|MountVolume\.\w+ failed|network is not ready/i;
const OF_THE_CLUSTER = /^(kube-|openshift-)/;

interface Waiting {
  readonly pod: ApiObject;
  readonly sinceMs: number;
  readonly why: string;
  readonly evidence: readonly Evidence[];
}

export const podNotStarting: Rule = {
  name: 'pod-not-starting',
  looksFor:
    'pods that have a node, and whose sandbox or volumes have been awaited for 5 minutes, with what the kubelet has said of it in the last 15 minutes',
  todo: 'Follow the message: a Secret, a ConfigMap or a claim that does not exist has to be created, a volume has to be attached by its driver, a sandbox needs the network plugin and the image of pause. Without a message, see journals/kubelet.log.',
  find(view) {
    const waiting = reportedObjects(view, 'pods').flatMap((pod) => waitingOf(view, pod) ?? []);
    const reasons = Map.groupBy(waiting, ({ why }) => causeIn(why));
    return Array.from(reasons.values(), (pods) => {
      const sinceMs = Math.min(...pods.map((one) => one.sinceMs));
      const names = some(pods.map(({ pod }) => fullName(pod)));
      const why = pods.find((one) => one.why !== '')?.why ?? 'the kubelet has not said why';
      return {
        severity: pods.some(({ pod }) => OF_THE_CLUSTER.test(pod.namespace ?? ''))
          ? 'failing'
          : 'warning',
        title: `${plural(pods.length, 'pod')} ${pods.length === 1 ? 'waits' : 'wait'} for sandbox or volumes, for ${duration(view.atMs - sinceMs)}: ${names}: ${why}`,
        sinceMs,
        evidence: pods.slice(0, 3).flatMap((one) => one.evidence),
      };
    });
  },
};

/** Names and ids of one pod do not make a reason of its own. */
const causeIn = (why: string) => why.replaceAll(/"[^"]*"|[0-9a-f]{8,}/g, '');

function waitingOf(view: BundleView, pod: ApiObject): Waiting | undefined {
  const scheduled = conditionOf(pod, 'PodScheduled');
  const statuses = containerStatuses(pod);
  const isWaiting =
    textAt(pod.raw, 'status', 'phase') === 'Pending' &&
    textAt(pod.raw, 'metadata', 'deletionTimestamp') === undefined &&
    scheduled?.status === 'True' &&
    statuses.every(({ reason = '' }) => WAITING.test(reason)) &&
    !hasStarted(pod);
  const sinceMs = scheduled?.sinceMs ?? pod.createdMs ?? view.atMs;
  if (!isWaiting || view.atMs - sinceMs < GRACE_MS) return undefined;
  return { pod, sinceMs, ...reasonOf(view, pod) };
}

const hasStarted = ({ raw }: ApiObject): boolean =>
  ['initContainerStatuses', 'containerStatuses'].some((list) =>
    listAt(raw, 'status', list).some((status) => (textAt(status, 'containerID') ?? '') !== ''),
  );

/** The newest event of the pod, or what the kubelet has last said of it. */
function reasonOf(view: BundleView, pod: ApiObject): Pick<Waiting, 'why' | 'evidence'> {
  const [event] = reportedObjects(view, 'events')
    .filter((one) => isAbout(one, pod) && EVENTS.test(textAt(one.raw, 'reason') ?? ''))
    .map((one) => ({ one, atMs: lastSeen(one) }))
    .filter(({ atMs }) => view.atMs - atMs <= SAID_MS)
    .toSorted((a, b) => b.atMs - a.atMs);
  if (event !== undefined) {
    const { one } = event;
    return {
      why: `${textAt(one.raw, 'reason')}: ${textAt(one.raw, 'message')}`,
      evidence: [...one.evidence(), ...pod.evidence()],
    };
  }
  const name = pod.name.replaceAll(/[.]/g, '\\.');
  const pattern = new RegExp(`(?=.*\\b${name}\\b).*(?:${LINE.source})`, 'i');
  const [line] = hostFiles(view, 'journals/kubelet.log')
    .flatMap((path) => lastLike(view, path, pattern))
    .filter(({ atMs }) => view.atMs - atMs <= SAID_MS);
  if (line === undefined) return { why: '', evidence: pod.evidence() };
  return { why: line.text.slice(0, 300), evidence: [line.evidence, ...pod.evidence()] };
}

function isAbout({ raw }: ApiObject, pod: ApiObject): boolean {
  const subject = at(raw, 'involvedObject') ?? at(raw, 'regarding');
  const uid = textAt(subject, 'uid');
  if (uid !== undefined && textAt(pod.raw, 'metadata', 'uid') !== undefined) {
    return uid === textAt(pod.raw, 'metadata', 'uid');
  }
  return (
    textAt(subject, 'kind') === 'Pod' &&
    textAt(subject, 'name') === pod.name &&
    textAt(subject, 'namespace') === pod.namespace
  );
}

/** An event that is repeated keeps its name and its first time. */
function lastSeen({ raw, createdMs }: ApiObject): number {
  const times = [
    msAt(raw, 'series', 'lastObservedTime'),
    msAt(raw, 'lastTimestamp'),
    msAt(raw, 'deprecatedLastTimestamp'),
    msAt(raw, 'eventTime'),
    createdMs,
  ];
  return Math.max(0, ...times.filter((ms) => ms !== undefined));
}
