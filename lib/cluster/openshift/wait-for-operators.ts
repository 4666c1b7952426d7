import { Failure } from '../../base/errors/failure.ts';
import { ChangeSignal } from '../../base/wait/change-signal.ts';
import type { Wait } from '../../base/wait/limits.ts';
import { waitUntil } from '../../base/wait/wait-until.ts';
import type { KubeClient } from '../../clients/kube/client.ts';
import { ClusterView } from './cluster-view.ts';
import { whyNotInstalled } from './installed.ts';
import type { Revision } from './revisions.ts';
import { type TakenOverNode, whyNotSettled, whyNotTakenOver } from './take-over.ts';

/**
 * - `taken-over`: the operators' own static pods run, of whatever revision;
 * - `installed`: their newest revisions run, and the cluster is what `openshift-install wait-for
 *   install-complete` waits for.
 */
export type Until = 'taken-over' | 'installed';

export interface OperatorWait extends Wait {
  /** What is waited for, as a noun phrase for the error at the deadline. */
  readonly what: string;
  /** Called with the revisions of all operators after each change. */
  readonly revisions: (all: readonly Revision[]) => Promise<void>;
}

/** The end of the time in which an operator must be stable is not an event. */
const tickMs = 1000;

/** @throws Failure `deadline` with what was missing last. */
export async function waitForOperators(
  client: KubeClient,
  node: TakenOverNode,
  until: Until,
  { signal, deadlineMs, report, what, revisions }: OperatorWait,
): Promise<void> {
  const ended = new AbortController();
  const view = new ClusterView(client, AbortSignal.any([signal, ended.signal]));
  const changes = new ChangeSignal();
  const complete = async () => {
    // In this order: all revisions of what is complete are known.
    const missing = whatIsMissing(view, node, until, new Date());
    await revisions(view.revisions());
    return missing.length === 0 ? { met: undefined } : { state: missing.join('; ') };
  };
  try {
    await Promise.race([
      view.follow(() => changes.notify()),
      waitUntil(complete, {
        signal,
        deadlineMs,
        everyMs: tickMs,
        changes,
        report,
        late: ({ state }) =>
          new Failure('deadline', `waited ${Math.round(deadlineMs / 1000)}s for ${what}`, {
            found: state,
          }),
      }),
    ]);
  } finally {
    ended.abort();
  }
}

function whatIsMissing(
  view: ClusterView,
  node: TakenOverNode,
  until: Until,
  now: Date,
): readonly string[] {
  const operators = view.operators();
  const cluster = until === 'taken-over' ? 'not needed' : view.cluster();
  if (operators === undefined || cluster === undefined) {
    return [[...view.lost().values()][0] ?? 'not everything has been listed yet'];
  }
  const why = until === 'taken-over' ? whyNotTakenOver : whyNotSettled;
  const pods = operators.map((each) => why(each, node)).filter((reason) => reason !== undefined);
  const rest =
    cluster === 'not needed' ? [] : whyNotInstalled(cluster.version, cluster.operators, now);
  const missing = [...pods, ...rest];
  // What was seen last may be out of date while the API server restarts.
  const [lost] = view.lost().values();
  return missing.length === 0 && lost !== undefined && isNeeded(view, until) ? [lost] : missing;
}

/** Of what cannot be watched, the version and its operators do not matter to the take-over. */
function isNeeded(view: ClusterView, until: Until): boolean {
  const others = ['clusterversions', 'clusteroperators'];
  return [...view.lost().keys()].some((name) => until === 'installed' || !others.includes(name));
}
