import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { KubeClient } from '../../../lib/clients/kube/client.ts';
import { WORKER_APPROVER } from '../../../lib/clients/rights/workers.ts';
import { describeDecision } from '../../../lib/cluster/csr/decision.ts';
import { approveWorkerRequests } from '../../../lib/cluster/csr/worker-approver.ts';
import {
  type AllowList,
  readAllowList,
  workersFolder,
} from '../../../lib/cluster/workers/allow-list.ts';
import type { AllowedWorker } from '../../../lib/cluster/workers/entry.ts';
import { recordMember } from '../../../lib/cluster/workers/members.ts';
import { writeMetrics } from '../../../lib/engine/metrics/write.ts';
import type { Progress } from '../../../lib/engine/steps/progress.ts';
import { done, type Step } from '../../../lib/engine/steps/step.ts';
import { FolderChanges } from '../../../lib/host/watch.ts';
import { signedAccess } from '../../../lib/render/signed-access.ts';
import { APPROVED_ELSEWHERE } from '../../steps/approve-until.ts';
import type { PlainHost } from '../../steps/host-context.ts';
import { ownHost } from '../../steps/own-host.ts';
import { Decisions } from './decisions.ts';
import { expectedOf, recordJoined } from './joined.ts';

/** How long one certificate of the approver is used; it is valid a little longer. */
const SESSION_MS = 3_600_000;
const MARGIN_MS = 300_000;

/**
 * Approves requests of the workers in `workers.d`, and of no other host, until none is expected: each
 * has its certificates, or its entry has expired. The list is read again whenever it changes.
 */
export const approveWorkers: Omit<Step<PlainHost>, 'deadlineMs' | 'retry'> = {
  name: 'approve-workers',
  leaves: 'the certificates of every worker in /etc/sno-agents/workers.d that has joined in time',
  touches: ['disk', 'api', 'clock'],
  input: ({ cluster }) => cluster.clusterId,
  async holds(context) {
    if (!context.settings.approveCertificates) return true;
    const { workers, faults } = await readList(context);
    return faults.length === 0 && (await expected(context, workers)).length === 0;
  },
  async run(context, progress) {
    if (!context.settings.approveCertificates) return done(APPROVED_ELSEWHERE);
    const reported = new Set<string>();
    const decisions = new Decisions();
    // Opened before the list is read, so that a file that is added meanwhile is not missed.
    await using changes = await FolderChanges.open(workersFolder(context.paths), progress.signal);
    for (;;) {
      const list = await readList(context);
      for (const fault of list.faults.filter((each) => !reported.has(each))) {
        reported.add(fault);
        progress.warn(`This entry allows nothing: ${fault}`);
      }
      const awaited = await expected(context, list.workers);
      if (awaited.length === 0) return conclude(context, list);
      const names = awaited.map(({ name }) => name).join(', ');
      await progress.wait(`requests of ${names}`, () =>
        session(context, { workers: list.workers, awaited, changes }, progress, decisions),
      );
      await writeMetrics(
        context,
        'sno-approve-requests',
        async () => decisions.metrics(),
        (text) => progress.warn(text),
      );
    }
  },
};

async function readList(context: PlainHost): Promise<AllowList> {
  const { machineNetwork } = context.cluster;
  return readAllowList(context.paths, {
    ...(await ownHost(context)),
    machineNetwork,
    now: new Date(),
  });
}

const expected = ({ paths }: PlainHost, workers: readonly AllowedWorker[]) =>
  expectedOf(paths, workers, new Date());

function conclude({ paths }: PlainHost, { faults }: AllowList) {
  if (faults.length === 0) return done('no worker is expected');
  throw new Failure('usage', `files in ${workersFolder(paths)} cannot be used`, {
    found: faults.join('; '),
    fix: 'Correct or delete them: sno-approve starts again when the folder changes.',
  });
}

interface ReadList {
  readonly workers: readonly AllowedWorker[];
  /** Those of them that have not joined yet. */
  readonly awaited: readonly AllowedWorker[];
  /** Of the folder of the list since before it was read. */
  readonly changes: FolderChanges;
}

/** Until the list changes, an entry expires, a worker has joined, or the certificate is due. */
async function session(
  context: PlainHost,
  { workers, awaited, changes }: ReadList,
  progress: Progress,
  decisions: Decisions,
): Promise<void> {
  const { paths, cluster, hostname } = context;
  const access = await signedAccess(
    cluster.controlPlane,
    paths,
    WORKER_APPROVER,
    SESSION_MS + MARGIN_MS,
  );
  using client = new KubeClient(access);
  const ended = new AbortController();
  const signal = AbortSignal.any([progress.signal, ended.signal]);
  const joined = Promise.withResolvers<void>();
  const untilExpiry = Math.min(...awaited.map(({ expires }) => expires.getTime() - Date.now()));
  const ends = [
    joined.promise,
    sleep(Math.max(1, Math.min(SESSION_MS, untilExpiry)), undefined, { signal }),
    changes.next(signal),
    approveWorkerRequests(client, {
      signal,
      ownName: hostname(),
      workers,
      report: (decision) => {
        if (decisions.add(decision)) progress.say(...describeDecision(decision));
      },
      serving: (worker) => recordMember(paths, worker, new Date()),
      served: ({ name }) => {
        recordJoined(paths, workers, name).then(joined.resolve, joined.reject);
      },
    }),
  ];
  try {
    await Promise.race(ends);
  } finally {
    ended.abort();
  }
}
