import type { AgentName } from '../../lib/engine/agents/table.ts';
import type { BundleView, Found, Rule } from '../bundle-view.ts';
import { RESTORE } from '../reading/etcd-advice.ts';
import { whereSaid } from '../reading/evidence.ts';
import { hostFiles, hostsIn } from '../reading/hosts.ts';
import { isAhead, lastLike, ongoing } from '../reading/journal.ts';
import { lastError, newestContainers, type RuntimeContainer } from '../reading/pods.ts';
import { currentStepJournals } from '../reading/steps.ts';
import { unitsOf } from '../reading/units.ts';
import { duration, some } from '../reading/words.ts';

const READYZ = 'resources/api/readyz.txt';
/** Time that an API server on a slow host needs after the kubelet has started. */
const GRACE_MS = 3 * 60_000;
const REFUSED =
  /:6443\S{0,300}:? .{0,300}(connection refused|i\/o timeout|no route to host|context deadline exceeded|EOF|TLS handshake timeout|x509:)/;

export const apiNotAnswering: Rule = {
  name: 'api-not-answering',
  looksFor:
    'an API server that reports that it is not ready (readyz), or that the kubelet and the collection could not reach, on a host where it should run',
  todo: 'Check whether its container is running (containers/containers.json in the bundle). Read the end of its log and of the log of etcd, which it needs: /var/log/pods on the host.',
  find(view) {
    if (!shouldRun(view)) return [];
    return view.paths().includes(READYZ) ? notReady(view) : notReached(view);
  },
};

/**
 * On the live host only between the steps control-plane and quiesce, on an all-in-one host from the
 * first of them: otherwise it is down intentionally.
 */
function shouldRun(view: BundleView): boolean {
  return hostsIn(view).some(({ stage }) => {
    const steps = entriesOf(view, stage === 'installed' ? 'aiokube' : 'bootkube');
    if (stage === 'installed' && steps.length === 0) return true;
    const isDone = steps.some(({ step, event }) => step === 'control-plane' && event === 'done');
    return isDone && !steps.some(({ step }) => step === 'quiesce');
  });
}

const entriesOf = (view: BundleView, name: AgentName) =>
  currentStepJournals(view)
    .filter(({ agent }) => agent === name)
    .flatMap(({ entries }) => entries);

function notReady(view: BundleView): Found[] {
  const failed = view.lines(READYZ).flatMap((line) => /^\[-\](\S+)/.exec(line)?.[1] ?? []);
  if (failed.length === 0) return [];
  return [
    {
      severity: 'failing',
      title: `The API server is not ready: its checks ${some(failed, 5)} fail`,
      evidence: failed.flatMap((name) => whereSaid(view, READYZ, `[-]${name}`)),
      todo: failed.includes('etcd')
        ? `Check etcd first: its log in /var/log/pods, its disk, its certificates. If its data is damaged: ${RESTORE}`
        : 'Look in the log of kube-apiserver for the failed checks.',
    },
  ];
}

function notReached(view: BundleView): Found[] {
  const failure = (view.failures ?? []).find(
    ({ path, reason }) =>
      /^resources(\/|$)/.test(path) &&
      /ECONN|EHOST|ETIMEDOUT|timed? ?out|deadline|not complete after|refused|certificate has expired/i.test(
        reason,
      ),
  );
  const answeredMs = lastAnswer(view);
  const [refused] = hostFiles(view, 'journals/kubelet.log').flatMap(
    (path) => ongoing(view, path, REFUSED, answeredMs) ?? [],
  );
  if (failure === undefined && refused === undefined) return [];
  const sinceMs = refused?.sinceMs;
  const kubelets = hostsIn(view).flatMap(
    (host) => unitsOf(view, host).get('kubelet.service') ?? [],
  );
  const isNew = kubelets.some((unit) => view.atMs - (unit.sinceMs ?? 0) < GRACE_MS);
  const what =
    sinceMs === undefined
      ? 'does not answer'
      : `has not answered for ${duration(view.atMs - sinceMs)}`;
  return [
    {
      severity: isNew ? 'warning' : 'failing',
      title: `The API server ${what}${failure === undefined ? '' : `: ${failure.reason}`}${isNew ? ' (the kubelet has only just started)' : ''}`,
      sinceMs,
      evidence: [
        ...newestContainers(view)
          .filter(isDown)
          .flatMap((one) => lastError(view, one)),
        ...(refused === undefined ? [] : [refused.last.evidence]),
        // The kubelet starts the server: without it, its state is the reason.
        ...kubelets.filter(({ active }) => active !== 'active').flatMap(({ evidence }) => evidence),
      ],
    },
  ];
}

/** Its last log lines may say why. */
const isDown = ({ name, isRunning }: RuntimeContainer) => name === 'kube-apiserver' && !isRunning;

/** Before its first response, connection refusals are normal for a starting server. */
function lastAnswer(view: BundleView): number {
  const registered = hostFiles(view, 'journals/kubelet.log').flatMap((path) =>
    lastLike(view, path, /Successfully registered node/),
  );
  const steps = currentStepJournals(view)
    .flatMap(({ entries }) => entries)
    .filter(({ step, event }) => event === 'done' && (step === 'api' || step === 'node-ready'));
  const known = [...registered, ...steps].filter((line) => !isAhead(line, view));
  return Math.max(0, ...known.map(({ atMs }) => atMs));
}
