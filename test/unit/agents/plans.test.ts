/**
 * The plans, stated independently: their steps, the order and its reasons, the deadlines, and which
 * steps are retried. Whoever changes a plan must state the change here too.
 */
import t from 'tap';
import { aiokubePlan } from '../../../agents/aiokube/plan.ts';
import { approveCsrPlan } from '../../../agents/approve-csr/plan.ts';
import { bootkubePlan } from '../../../agents/bootkube/plan.ts';
import { deferredPlan } from '../../../agents/deferred/plan.ts';
import { installToDiskPlan } from '../../../agents/install-to-disk/plan.ts';
import { backupPlan } from '../../../agents/node/backup/plan.ts';
import { backupRestorePlan } from '../../../agents/node/backup/restore/plan.ts';
import { certificatesPlan } from '../../../agents/node/certificates/plan.ts';
import { payloadPlan } from '../../../agents/node/payload/plan.ts';
import { renewPlan } from '../../../agents/node/renew/plan.ts';
import { rotatePlan } from '../../../agents/node/rotate/plan.ts';
import { postRebootPlan } from '../../../agents/post-reboot/plan.ts';
import { restorePlan } from '../../../agents/post-reboot/restore/plan.ts';
import { progressPlan } from '../../../agents/progress/plan.ts';
import { announce } from '../../../agents/steps/complete.ts';
import { defaultSettings, type Settings } from '../../../lib/host/settings.ts';
import type { Plan } from '../../../lib/steps/step.ts';

/** Settings with distinct values, so that a deadline shows which setting it comes from. */
const names = Object.keys(defaultSettings);
const distinct = (name: keyof Settings) => 1_000_000 + names.indexOf(name);
const settings: Settings = Object.assign(
  { ...defaultSettings },
  Object.fromEntries(names.map((name, index) => [name, 1_000_000 + index])),
);

/**
 * A step's own deadline setting, or milliseconds; `once`: it is not retried; `until`: the step that consumes its
 * result; `last`: it removes the agent's own state.
 */
interface Expected {
  readonly deadline: keyof Settings | number;
  readonly once?: true;
  readonly until?: string;
  readonly last?: true;
}

/** It waits for one of the two. */
const overlapMs =
  Math.max(distinct('rotateOverlapMs'), distinct('rotateTokensMs')) + distinct('finishMs');

const apiUntilClean = (deadline: keyof Settings): Expected => ({ deadline, until: 'clean' });

const plans: [plan: Plan<never>, unit: string, steps: Record<string, Expected>][] = [
  [
    bootkubePlan(settings),
    'bootkube',
    {
      'inspect-disk': { deadline: 'inspectDiskMs' },
      preflight: { deadline: 'preflightMs' },
      payload: { deadline: 'payloadMs' },
      render: { deadline: 'renderMs' },
      kubelet: { deadline: 'kubeletMs', until: 'stop-etcd' },
      etcd: { deadline: 'etcdMs', until: 'snapshot' },
      'control-plane': { deadline: 'controlPlaneMs', until: 'quiesce' },
      manifests: { deadline: 'manifestsMs', until: 'quiesce' },
      'kubelet-identity': { deadline: 'kubeletIdentityMs', once: true },
      'api-objects': { deadline: 'collectObjectsMs', once: true },
      quiesce: { deadline: 'quiesceMs', until: 'snapshot' },
      snapshot: { deadline: 'snapshotMs' },
      'stop-etcd': { deadline: 'stopEtcdMs' },
      'log-bundle': { deadline: 'logBundleMs', once: true },
      'master-ignition': { deadline: 'masterIgnitionMs' },
      'combined-ignition': { deadline: 'combineIgnitionMs', once: true },
      finish: { deadline: 'finishMs', once: true },
    },
  ],
  [
    installToDiskPlan(settings),
    'install-to-disk',
    {
      'wait-for-bootkube': { deadline: 'waitForBootkubeMs', once: true },
      'inspect-disk': { deadline: 'inspectDiskMs' },
      'write-disk': { deadline: 'writeDiskMs' },
      'copy-payload': { deadline: 'copyPayloadMs' },
      'boot-order': { deadline: 'bootOrderMs', once: true },
      restart: { deadline: 'finishMs', once: true },
    },
  ],
  [
    progressPlan(settings),
    'progress',
    { 'show-progress': { deadline: 'liveStageMs', last: true } },
  ],
  [
    approveCsrPlan(settings),
    'approve-csr',
    { 'watch-requests': { deadline: 'waitForBootkubeMs' } },
  ],
  [payloadPlan(settings), 'sno-payload', { 'install-payload': { deadline: 'payloadMs' } }],
  [
    certificatesPlan(settings),
    'sno-certificates',
    { 'sign-expired': { deadline: 'certificatesMs' } },
  ],
  [
    renewPlan(settings),
    'sno-renew',
    {
      'renew-leaves': { deadline: 'renewLeavesMs', once: true },
      'kubelet-serving': { deadline: 'kubeletServingMs', once: true },
      'kubelet-certificates': { deadline: 'kubeletCertificatesMs', once: true },
      conclude: { deadline: 'finishMs', once: true },
    },
  ],
  [
    backupPlan(settings),
    'sno-backup',
    { create: { deadline: 'backupMs' }, prune: { deadline: 'finishMs', once: true } },
  ],
  [
    backupRestorePlan(settings),
    'sno-backup-restore',
    {
      rebuild: { deadline: 'restoreRebuildMs', until: 'replace' },
      stop: { deadline: 'restoreStopMs', until: 'start' },
      replace: { deadline: 'restoreReplaceMs' },
      start: { deadline: 'restoreStartMs' },
      'steady-state': { deadline: 'restoreSettleMs', until: 'conclude' },
      undo: { deadline: 'restoreUndoMs' },
      conclude: { deadline: 'finishMs' },
    },
  ],
  [
    rotatePlan(settings),
    'sno-rotate',
    {
      // Its keys are used from then on; afterwards it cannot be repeated.
      stage: { deadline: 'rotateStageMs', until: 'trust-both' },
      'trust-both': { deadline: 'rotatePhaseMs', once: true, until: 'restart-workloads' },
      'restart-workloads': { deadline: 'rotatePhaseMs', once: true, until: 'use-new' },
      'use-new': { deadline: 'rotatePhaseMs', once: true, until: 'overlap' },
      overlap: { deadline: overlapMs, once: true, until: 'trust-new' },
      'trust-new': { deadline: 'rotatePhaseMs', once: true, until: 'conclude' },
      conclude: { deadline: 'finishMs', once: true },
    },
  ],
  [
    restorePlan(settings),
    'sno-restore',
    {
      'check-identity': { deadline: 'identityMs' },
      'restore-database': { deadline: 'restoreMs' },
      'place-etcd': { deadline: 'finishMs', once: true },
    },
  ],
  [
    postRebootPlan(settings),
    'bootkube',
    {
      api: apiUntilClean('apiMs'),
      'serving-certificate': apiUntilClean('servingCertificateMs'),
      'node-ready': apiUntilClean('nodeReadyMs'),
      'add-ons': { deadline: 'addOnsMs', until: 'steady-state' },
      'bootstrap-complete': apiUntilClean('bootstrapCompleteMs'),
      'steady-state': apiUntilClean('steadyStateMs'),
      clean: { deadline: 'cleanMs' },
      'verify-clean': { deadline: 'verifyCleanMs', once: true },
      record: { deadline: 'finishMs', once: true },
      complete: { deadline: 'completeMs' },
      retire: { deadline: 'retireMs', once: true, last: true },
    },
  ],
  [
    aiokubePlan(settings),
    'aiokube',
    {
      marker: { deadline: 'finishMs' },
      preflight: { deadline: 'preflightMs' },
      payload: { deadline: 'payloadMs' },
      render: { deadline: 'renderMs', until: 'leftovers' },
      'host-identity': { deadline: 'identityMs', until: 'leftovers' },
      'kubelet-identity': { deadline: 'kubeletIdentityMs', once: true, until: 'leftovers' },
      kubelet: { deadline: 'nodeKubeletMs', until: 'leftovers' },
      etcd: { deadline: 'etcdMs', until: 'leftovers' },
      'control-plane': { deadline: 'controlPlaneMs', until: 'leftovers' },
      manifests: { deadline: 'manifestsMs', until: 'leftovers' },
      'node-role': { deadline: 'nodeRoleMs' },
      'serving-certificate': apiUntilClean('servingCertificateMs'),
      'node-ready': apiUntilClean('nodeReadyMs'),
      'add-ons': { deadline: 'addOnsMs', until: 'steady-state' },
      'bootstrap-complete': apiUntilClean('bootstrapCompleteMs'),
      'steady-state': apiUntilClean('steadyStateMs'),
      leftovers: { deadline: 'finishMs' },
      clean: { deadline: 'cleanMs' },
      'verify-clean': { deadline: 'verifyCleanMs', once: true },
      record: { deadline: 'finishMs', once: true },
      complete: { deadline: 'completeMs' },
      finish: { deadline: 'finishMs', once: true },
      retire: { deadline: 'retireMs', once: true, last: true },
    },
  ],
];

for (const [plan, unit, expected] of plans) {
  t.test(`the plan of ${plan.agent}`, async (t) => {
    t.equal(plan.unit, unit);
    t.same(
      plan.steps.map(({ name }) => name),
      Object.keys(expected),
      'its steps in order',
    );
    for (const step of plan.steps) {
      const { deadline, once, until, last } = expected[step.name] ?? { deadline: 'retryMs' };
      const deadlineMs = typeof deadline === 'number' ? deadline : distinct(deadline);
      t.equal(step.deadlineMs, deadlineMs, `${step.name}: ${deadline}`);
      const retry = once === true ? undefined : { delayMs: distinct('retryMs') };
      t.same(step.retry, retry, `${step.name}: ${once === true ? 'once' : 'tried again'}`);
      t.equal(step.neededUntil, until, `${step.name}: needed until ${until}`);
      t.equal(step.removesState, last, `${step.name}: removes state`);
      t.ok(step.leaves, `${step.name} says what it leaves`);
    }
    for (const until of plan.steps.flatMap(({ neededUntil = [] }) => neededUntil)) {
      t.ok(
        plan.steps.some(({ name }) => name === until),
        `${until} is a step`,
      );
    }
  });
}

t.test('agents that run beside the API report their progress to the cluster', async (t) => {
  const reporting = ['post-reboot', 'aiokube'];
  for (const [plan] of plans) {
    t.equal(plan.announce, reporting.includes(plan.agent) ? announce : undefined, plan.agent);
  }
});

t.test('the plan of sno-deferred ends with the expiry, by the wall clock', async (t) => {
  const { agent, unit, steps } = deferredPlan({ ...settings, deferredExpiryHours: 5 });
  t.same([agent, unit], ['sno-deferred', 'sno-deferred']);
  t.match(steps, [
    { name: 'apply', deadlineMs: 6 * 3_600_000, retry: { delayMs: distinct('retryMs') } },
    { name: 'retire', deadlineMs: distinct('apiMs'), removesState: true },
  ]);
  t.equal(steps.length, 2);
  t.same(steps[1]?.retry, { delayMs: distinct('retryMs') });
});

/** What must come before what, and why. */
const reasons: [plan: Plan<never>, before: string, after: string, why: string][] = [
  [
    bootkubePlan(settings),
    'inspect-disk',
    'preflight',
    'nothing is changed before the disk was looked at',
  ],
  [bootkubePlan(settings), 'payload', 'kubelet', 'the kubelet is a binary of the payload'],
  [bootkubePlan(settings), 'render', 'etcd', 'static pods are rendered'],
  [
    bootkubePlan(settings),
    'kubelet-identity',
    'combined-ignition',
    'the identity travels in the Ignition',
  ],
  [bootkubePlan(settings), 'api-objects', 'quiesce', 'after that there is no API to ask'],
  [bootkubePlan(settings), 'manifests', 'quiesce', 'after that no object can be created'],
  [
    bootkubePlan(settings),
    'quiesce',
    'snapshot',
    'a snapshot of a database that is written to is none',
  ],
  [bootkubePlan(settings), 'snapshot', 'stop-etcd', 'etcd streams it'],
  [bootkubePlan(settings), 'stop-etcd', 'combined-ignition', 'nothing can change what was taken'],
  [bootkubePlan(settings), 'log-bundle', 'combined-ignition', 'the bundle travels in the Ignition'],
  [bootkubePlan(settings), 'master-ignition', 'combined-ignition', 'it is one half of it'],
  [bootkubePlan(settings), 'combined-ignition', 'finish', 'the mark says that it is there'],
  [installToDiskPlan(settings), 'wait-for-bootkube', 'inspect-disk', 'the Ignition is made first'],
  [
    installToDiskPlan(settings),
    'inspect-disk',
    'write-disk',
    'a disk is asked before it is written',
  ],
  [installToDiskPlan(settings), 'write-disk', 'copy-payload', 'writing replaces all that is on it'],
  [installToDiskPlan(settings), 'copy-payload', 'boot-order', 'only a finished disk is booted'],
  [installToDiskPlan(settings), 'boot-order', 'restart', 'the host would boot the medium again'],
  [
    restorePlan(settings),
    'check-identity',
    'restore-database',
    'a host of another name must not start',
  ],
  [backupPlan(settings), 'create', 'prune', 'the newest complete backup is the new one'],
  [
    backupRestorePlan(settings),
    'rebuild',
    'stop',
    'the API goes on until everything is verified and rebuilt',
  ],
  [backupRestorePlan(settings), 'stop', 'replace', 'a database in use is not moved'],
  [backupRestorePlan(settings), 'replace', 'start', 'clients see only the restored database'],
  [backupRestorePlan(settings), 'steady-state', 'undo', 'what does not settle is undone'],
  [backupRestorePlan(settings), 'undo', 'conclude', 'the request ends when the host is whole'],
  [renewPlan(settings), 'renew-leaves', 'conclude', 'it reports what failed'],
  [
    renewPlan(settings),
    'kubelet-serving',
    'kubelet-certificates',
    'the clock may be set meanwhile',
  ],
  [renewPlan(settings), 'kubelet-certificates', 'conclude', 'it reports what failed'],
  [restorePlan(settings), 'restore-database', 'place-etcd', 'etcd would begin an empty cluster'],
  [postRebootPlan(settings), 'node-ready', 'add-ons', 'a node that is not Ready runs no pods'],
  [aiokubePlan(settings), 'node-ready', 'add-ons', 'a node that is not Ready runs no pods'],
  [postRebootPlan(settings), 'add-ons', 'complete', 'Services and DNS are a part of the cluster'],
  [postRebootPlan(settings), 'steady-state', 'clean', 'what may still be needed is not deleted'],
  [postRebootPlan(settings), 'bootstrap-complete', 'clean', 'the key that publishes it is deleted'],
  [postRebootPlan(settings), 'clean', 'verify-clean', 'there is nothing to prove before'],
  [postRebootPlan(settings), 'verify-clean', 'record', 'the record says that it is complete'],
  [postRebootPlan(settings), 'record', 'complete', 'a client may take the record at once'],
  [postRebootPlan(settings), 'complete', 'retire', 'only this agent is left to remove'],
  [postRebootPlan(settings), 'record', 'retire', 'it is made of the state that retire deletes'],
  [aiokubePlan(settings), 'marker', 'preflight', 'nothing is done on the disk of another machine'],
  [aiokubePlan(settings), 'preflight', 'render', 'certificates have the final name and addresses'],
  [aiokubePlan(settings), 'payload', 'render', 'pods name the images of the payload'],
  [aiokubePlan(settings), 'payload', 'kubelet', 'the kubelet is a binary of the payload'],
  [aiokubePlan(settings), 'render', 'host-identity', 'the identity is what was rendered for'],
  [aiokubePlan(settings), 'render', 'kubelet-identity', 'the CA of nodes is rendered'],
  [aiokubePlan(settings), 'host-identity', 'kubelet', 'it registers this name and these addresses'],
  [aiokubePlan(settings), 'kubelet-identity', 'kubelet', 'it must not start without an identity'],
  [aiokubePlan(settings), 'kubelet', 'etcd', 'it runs the static pods'],
  [aiokubePlan(settings), 'etcd', 'control-plane', 'the API server needs its database'],
  [aiokubePlan(settings), 'control-plane', 'manifests', 'they are objects of the API'],
  [
    aiokubePlan(settings),
    'manifests',
    'serving-certificate',
    "the approver's rights are manifests",
  ],
  [aiokubePlan(settings), 'node-role', 'serving-certificate', 'it is for a registered Node'],
  [aiokubePlan(settings), 'node-role', 'steady-state', 'the label is a change'],
  [aiokubePlan(settings), 'steady-state', 'leftovers', 'what may still be needed is not listed'],
  [aiokubePlan(settings), 'leftovers', 'clean', 'only what is listed is deleted'],
  [aiokubePlan(settings), 'clean', 'verify-clean', 'there is nothing to prove before'],
  [aiokubePlan(settings), 'verify-clean', 'record', 'the record says that it is complete'],
  [aiokubePlan(settings), 'record', 'finish', 'whoever waits for the file reads the record'],
  [aiokubePlan(settings), 'complete', 'finish', 'the cluster knows it too by then'],
  [aiokubePlan(settings), 'finish', 'retire', 'only this agent is left to remove'],
];
for (const [{ agent, steps }, before, after, why] of reasons) {
  t.test(`${agent}: ${before} before ${after}: ${why}`, async (t) => {
    const position = (name: string) => steps.findIndex((step) => step.name === name);
    t.ok(position(before) >= 0 && position(before) < position(after));
  });
}
