import { isAfter } from '../../clients/kube/node-ready.ts';
import type { Pod } from '../../clients/kube/resources.ts';
import type { OperatorState, StaticPodOperator } from './operators.ts';

/** What is known of one operator and of its pods at a moment. */
export interface OperatorView {
  readonly operator: StaticPodOperator;
  /** Undefined while its configuration does not exist. */
  readonly state: OperatorState | undefined;
  /** In its namespace. */
  readonly pods: readonly Pod[];
}

/** The node whose static pods are taken over. */
export interface TakenOverNode {
  readonly nodeName: string;
  /** Only pods that were started since count: the database is restored and shows the past. */
  readonly bootTime: Date;
}

/**
 * What keeps the operator's own pod from running on the node, or undefined if it runs. Its
 * revision may be an older one than the newest.
 */
export function whyNotTakenOver(
  { operator, state, pods }: OperatorView,
  node: TakenOverNode,
): string | undefined {
  const { component } = operator;
  const status = statusOf(state, node);
  const current = status?.currentRevision ?? 0;
  if (state === undefined) return `${component}: its operator has not started`;
  if (status === undefined) return `${component}: its operator does not know the node`;
  if (current === 0) return `${component}: ${progressOf(state, node)}`;
  const reason = whyPodNotRunning(operator, pods, current, node);
  return reason === undefined ? undefined : `${component} revision ${current}: ${reason}`;
}

/** The same, and what keeps its newest revision from running. */
export function whyNotSettled(view: OperatorView, node: TakenOverNode): string | undefined {
  const { operator, state } = view;
  const notTakenOver = whyNotTakenOver(view, node);
  if (notTakenOver !== undefined || state === undefined) return notTakenOver;
  const { currentRevision: current = 0, targetRevision: target = 0 } = statusOf(state, node) ?? {};
  const latest = state.status?.latestAvailableRevision ?? 0;
  if (current >= latest && (target === 0 || target === current)) return undefined;
  return `${operator.component}: ${progressOf(state, node)}`;
}

const statusOf = (state: OperatorState | undefined, { nodeName }: TakenOverNode) =>
  state?.status?.nodeStatuses?.find((each) => each.nodeName === nodeName);

/** The revision that runs, the one to come and, if the last attempt failed, why. */
function progressOf(state: OperatorState, node: TakenOverNode): string {
  const {
    currentRevision: current = 0,
    targetRevision: target = 0,
    lastFailedRevision: failed = 0,
    lastFailedRevisionErrors: errors = [],
  } = statusOf(state, node) ?? {};
  const latest = state.status?.latestAvailableRevision ?? 0;
  const runs = current === 0 ? "the bootstrap's pod runs" : `revision ${current} runs`;
  const next =
    target !== 0
      ? `revision ${target} is being installed`
      : latest === 0
        ? 'there is no revision yet'
        : `revision ${latest} is to come`;
  // An older failure is history once a newer revision is on its way.
  const isFailing = failed !== 0 && failed >= Math.max(target, current);
  const failure = isFailing ? [`revision ${failed} failed: ${errors[0] ?? 'no reason given'}`] : [];
  return [runs, next, ...failure, ...degradedOf(state)].join(', ');
}

/** What the operator's controllers cannot do, such as `InstallerControllerDegraded: no such image`. */
function degradedOf({ status }: OperatorState): string[] {
  return (status?.conditions ?? [])
    .filter(({ type, status }) => type.endsWith('Degraded') && status === 'True')
    .map(({ type, message, reason }) => `${type}: ${message || reason || 'no reason given'}`);
}

function whyPodNotRunning(
  { pod: name }: StaticPodOperator,
  pods: readonly Pod[],
  revision: number,
  { nodeName, bootTime }: TakenOverNode,
): string | undefined {
  const pod = pods.find(({ metadata }) => metadata.name === `${name}-${nodeName}`);
  if (pod === undefined) return 'its pod does not exist';
  const { labels, deletionTimestamp } = pod.metadata;
  const running = labels?.revision;
  if (deletionTimestamp !== undefined) return 'its pod is being deleted';
  if (running !== String(revision)) return `its pod has revision ${running ?? 'none'}`;
  const ready = pod.status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready?.status !== 'True') return `its pod is not ready: ${ready?.message ?? 'no condition'}`;
  const old = pod.status?.containerStatuses?.find(
    ({ state }) => !isAfter(state?.running?.startedAt, bootTime),
  );
  return old === undefined ? undefined : `container ${old.name} has not started since this boot`;
}
