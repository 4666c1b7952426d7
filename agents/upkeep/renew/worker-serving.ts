import { Failure } from '../../../lib/base/errors/failure.ts';
import { waitForApi } from '../../../lib/clients/kube/api-ready.ts';
import { KubeClient } from '../../../lib/clients/kube/client.ts';
import { WORKER_APPROVER } from '../../../lib/clients/rights/workers.ts';
import { type Decision, describeDecision } from '../../../lib/cluster/csr/decision.ts';
import { approveWorkerRenewals } from '../../../lib/cluster/csr/worker-renewals.ts';
import { forgetMember, readMembers, recordMember } from '../../../lib/cluster/workers/members.ts';
import { ownOfWorker } from '../../../lib/cluster/workers/own-host.ts';
import type { Progress } from '../../../lib/engine/steps/progress.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { signedAccess } from '../../../lib/render/signed-access.ts';
import { APPROVED_ELSEWHERE } from '../../steps/approve-until.ts';
import type { RenewContext } from '../../steps/certificates/context.ts';
import { ownHost } from '../../steps/own-host.ts';
import { REQUEST_DEADLINE_MS } from '../../steps/request-deadline.ts';
import { attempted, readAttempts } from './attempts.ts';

const NAME = 'worker-serving';

/**
 * Approves the requests of workers that have joined for their next serving certificates. A kubelet repeats its request
 * every 15 minutes until it is approved, for weeks, so that one look a day finds it.
 */
export const workerServing: StepBody<RenewContext> = {
  name: NAME,
  leaves: 'no pending request of a worker that has joined for its next serving certificate',
  touches: ['disk', 'api', 'clock'],
  input: ({ run }) => run,
  async holds({ paths, settings, run }) {
    const last = (await readAttempts(paths)).find(({ name }) => name === NAME);
    if (last?.run === run) return true;
    if (last?.failure !== undefined) return false;
    return !settings.approveCertificates || (await readMembers(paths)).length === 0;
  },
  run: (context, progress) =>
    attempted(context, NAME, () => approveRenewals(context, progress), progress),
};

/** Returns what was found, for the journal. */
async function approveRenewals(context: RenewContext, progress: Progress): Promise<string> {
  const { paths, cluster, settings } = context;
  if (!settings.approveCertificates) return APPROVED_ELSEWHERE;
  const members = await readMembers(paths);
  if (members.length === 0) return 'no worker has joined';
  using client = new KubeClient(await signedAccess(cluster.controlPlane, paths, WORKER_APPROVER));
  await progress.wait('the API server to be ready', (wait) =>
    waitForApi(client, {
      ...wait,
      deadlineMs: settings.renewApiMs,
    }),
  );
  const own = await ownHost(context);
  // This host may have got another name or address since they joined.
  for (const member of members) {
    const what = ownOfWorker(member, own);
    if (what === undefined) continue;
    progress.warn(`Nothing is approved for worker ${member.name}: ${what} is this host's own`);
  }
  const { served, left, removed } = await approveWorkerRenewals(
    client,
    {
      ownName: own.ownName,
      members: members.filter((member) => ownOfWorker(member, own) === undefined),
    },
    {
      signal: progress.signal,
      deadlineMs: REQUEST_DEADLINE_MS,
      report: (decision) => progress.say(...describeDecision(decision)),
      serving: (worker) => recordMember(paths, worker, new Date()),
    },
  );
  for (const { name } of removed) {
    await forgetMember(paths, name);
    progress.say(`Worker ${name} was removed: only an entry in workers.d allows it again`);
  }
  if (left.length > 0) throw notApproved(left);
  return served.length === 0
    ? 'no worker requests one'
    : `approved for ${served.map(({ name }) => name).join(', ')}`;
}

function notApproved(left: readonly Decision[]): Failure {
  const names = [...new Set(left.map(({ requestor }) => requestor.replace(/^system:node:/, '')))];
  const reasons = left.flatMap(({ request, judgement }) =>
    judgement.verdict === 'approve'
      ? []
      : [`${request}: rule "${judgement.rule}", ${judgement.explanation}`],
  );
  return new Failure('fatal', `requests of ${names.join(', ')} are not approved`, {
    code: 'worker-request-pending',
    found: [...new Set(reasons)].join('; '),
    fix: 'If its addresses have changed, write an entry for the worker in /etc/sno-agents/workers.d. Otherwise find out who sends the request; to remove a worker, delete its Node.',
  });
}
