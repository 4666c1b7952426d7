import { Failure } from '../../../lib/base/errors/failure.ts';
import { waitForApi } from '../../../lib/clients/kube/api-ready.ts';
import { KubeClient } from '../../../lib/clients/kube/client.ts';
import { resources } from '../../../lib/clients/kube/resources.ts';
import { userOfNode } from '../../../lib/cluster/csr/checks.ts';
import type { Decision } from '../../../lib/cluster/csr/decision.ts';
import type { Progress } from '../../../lib/engine/steps/progress.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { validityOf } from '../../../lib/pki/certificate.ts';
import { accessTo } from '../../../lib/render/access.ts';
import { signedAccess } from '../../../lib/render/signed-access.ts';
import {
  APPROVED_ELSEWHERE,
  approveUntil,
  isForThisHost,
  servingPair,
} from '../../steps/approve-until.ts';
import type { RenewContext } from '../../steps/certificates/context.ts';
import { REQUEST_DEADLINE_MS } from '../../steps/request-deadline.ts';
import { attempted, readAttempts } from './attempts.ts';
import { rotationWindow } from './rotation-window.ts';

const NAME = 'kubelet-serving';

/**
 * Approves the request of this node's kubelet for its next serving certificate, by the policy of
 * lib/cluster/csr and with access that is signed in memory. The kubelet requests one late in the lifetime,
 * or when its name or addresses have changed, and repeats the request until it is approved. So one
 * look a day finds it; the step waits for a request that is about to be repeated.
 */
export const kubeletServing: StepBody<RenewContext> = {
  name: NAME,
  leaves: "no pending request of this node's kubelet for its serving certificate",
  touches: ['disk', 'api', 'clock'],
  input: ({ run }) => run,
  // Also without an attempt: on most days nothing is written.
  async holds(context, { signal }) {
    const last = (await readAttempts(context.paths)).find(({ name }) => name === NAME);
    if (last?.run === context.run) return true;
    if (last?.failure !== undefined) return false;
    if (!context.settings.approveCertificates) return true;
    return (await nextRequest(context, signal)) !== undefined;
  },
  run: (context, progress) =>
    attempted(context, NAME, () => approveIfRequested(context, progress), progress),
};

/** Returns what was found, for the journal. */
async function approveIfRequested(context: RenewContext, progress: Progress): Promise<string> {
  if (!context.settings.approveCertificates) return APPROVED_ELSEWHERE;
  const pem = await servingPair(context.paths);
  if (pem !== undefined && new Date() < validityOf(pem).notBefore) {
    return 'it is not valid yet: the clock was fast when it was issued';
  }
  const next = await nextRequest(context, progress.signal);
  return next === undefined
    ? approveRequest(context, progress)
    : `the kubelet requests the next one after ${day(next)}`;
}

/** When the kubelet requests its next certificate at the earliest; undefined if it may do so now. */
async function nextRequest(context: RenewContext, signal: AbortSignal): Promise<Date | undefined> {
  const pem = await servingPair(context.paths);
  if (pem === undefined) return undefined;
  const { from } = rotationWindow(pem);
  const isEarly = new Date() < from && (await isForThisHost(context, pem, signal));
  return isEarly ? from : undefined;
}

/** Returns what was found, for the journal. */
async function approveRequest(context: RenewContext, progress: Progress): Promise<string> {
  const { cluster, paths } = context;
  const before = await servingPair(paths);
  const window = before === undefined ? undefined : rotationWindow(before);
  const access = await signedAccess(
    cluster.controlPlane,
    paths,
    accessTo(cluster.controlPlane).csrApprover,
  );
  using client = new KubeClient(access);
  // Its timer starts this right at the boot of a host that was off: the next run would be tomorrow.
  await progress.wait('the API server to be ready', (wait) =>
    waitForApi(client, {
      ...wait,
      deadlineMs: context.settings.renewApiMs,
    }),
  );
  const limits = { signal: progress.signal, deadlineMs: REQUEST_DEADLINE_MS };
  await client.list(resources.certificateSigningRequests, {}, limits);
  const decisions: Decision[] = [];
  const isReplaced = await approveUntil(context, client, progress, {
    isAwaited: (pem) => pem !== before,
    waitingFor: "the kubelet's request for a serving certificate",
    report: (decision) => decisions.push(decision),
    giveUpMs: context.settings.servingRequestMs,
  });
  if (isReplaced) return 'the kubelet has a new one';
  const user = userOfNode(context.hostname());
  const own = decisions.findLast(({ requestor }) => requestor === user);
  if (own !== undefined) throw notReplaced(own);
  if (window === undefined || new Date() > window.until) throw missing(window?.until);
  if (new Date() < window.from) {
    const note = "it is not for the host's present name and addresses; no other one is requested";
    progress.warn(`The kubelet's serving certificate: ${note}`);
    return note;
  }
  return `the kubelet requests the next one before ${day(window.until)}`;
}

function notReplaced({ request, judgement }: Decision): Failure {
  const subject = { code: 'serving-request-pending', subject: request } as const;
  if (judgement.verdict === 'approve') {
    return new Failure(
      'fatal',
      `request ${request} is approved, and the kubelet has no certificate`,
      {
        ...subject,
        fix: 'Look at the logs of kube-controller-manager, which signs it, and of the kubelet.',
      },
    );
  }
  const { rule, explanation } = judgement;
  return new Failure(
    'fatal',
    `the kubelet's request ${request} is not approved, by rule "${rule}"`,
    {
      ...subject,
      found: explanation,
      fix: "Without a new serving certificate, logs and exec end when the current one expires. Compare the host's name and addresses with those of the Node.",
    },
  );
}

function missing(until: Date | undefined): Failure {
  return new Failure('fatal', 'the kubelet has not requested a serving certificate', {
    code: 'serving-request-missing',
    ...(until === undefined ? {} : { expected: `a request before ${until.toISOString()}` }),
    found: 'none',
    fix: 'See "journalctl -u kubelet"; a restart of the kubelet sends a new request.',
  });
}

const day = (date: Date) => date.toISOString().slice(0, 10);
