/**
 * The plans, stated independently: their steps in order, the deadlines, and which steps are retried. Whoever changes a plan must state the change here too.
 */
import { aiokubePlan } from '../../../agents/aiokube/plan.ts';
import { approveCsrPlan } from '../../../agents/approve-csr/plan.ts';
import { bootkubePlan } from '../../../agents/bootkube/plan.ts';
import { installToDiskPlan } from '../../../agents/install-to-disk/plan.ts';
import { postRebootOpenShiftPlan } from '../../../agents/post-reboot/openshift/plan.ts';
import { openShiftRestorePlan } from '../../../agents/post-reboot/openshift/restore/plan.ts';
import { postRebootPlan } from '../../../agents/post-reboot/plan.ts';
import { restorePlan } from '../../../agents/post-reboot/restore/plan.ts';
import { progressPlan } from '../../../agents/progress/plan.ts';
import { followAddressPlan } from '../../../agents/upkeep/address/plan.ts';
import { approvePlan } from '../../../agents/upkeep/approve/plan.ts';
import { backupPlan } from '../../../agents/upkeep/backup/plan.ts';
import { backupRestorePlan } from '../../../agents/upkeep/backup/restore/plan.ts';
import { certificatesPlan } from '../../../agents/upkeep/certificates/plan.ts';
import { identityPlan } from '../../../agents/upkeep/identity/plan.ts';
import { payloadPlan } from '../../../agents/upkeep/payload/plan.ts';
import { renewPlan } from '../../../agents/upkeep/renew/plan.ts';
import { rotatePlan } from '../../../agents/upkeep/rotate/plan.ts';
import { trialPlan } from '../../../agents/upkeep/trial/plan.ts';
import { unsealPlan } from '../../../agents/upkeep/unseal/plan.ts';
import { workerPlan } from '../../../agents/worker/plan.ts';
import { workerTrustPlan } from '../../../agents/worker/trust/plan.ts';
import { defaultSettings, type Settings } from '../../../lib/host/settings.ts';
import { factoryPlans } from './expected-factory-plans.ts';
import type { Expected, ExpectedPlan } from './expected-plan.ts';
import { reconfigurePlans } from './expected-reconfigure.ts';
import { updatePlans } from './expected-update.ts';

/** Settings with distinct values, so that a deadline shows which setting it comes from. */
const names = Object.keys(defaultSettings);
export const distinct = (name: keyof Settings) => 1_000_000 + names.indexOf(name);
export const settings: Settings = Object.assign(
  { ...defaultSettings },
  Object.fromEntries(names.map((name, index) => [name, 1_000_000 + index])),
);

/** It waits for one of the two. */
const overlapMs =
  Math.max(distinct('rotateOverlapMs'), distinct('rotateTokensMs')) + distinct('finishMs');

const apiUntilClean = (deadline: keyof Settings): Expected => ({ deadline, until: 'clean' });

export const plans: ExpectedPlan[] = [
  [
    bootkubePlan(settings),
    'bootkube',
    {
      'inspect-disk': { deadline: 'inspectDiskMs' },
      preflight: { deadline: 'preflightMs' },
      'seal-key': { deadline: 'unsealKeyMs' },
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
  [
    payloadPlan(settings),
    'sno-payload',
    {
      deployment: { deadline: 'finishMs' },
      'install-payload': { deadline: 'payloadMs' },
      'kubelet-state': { deadline: 'finishMs' },
    },
  ],
  [
    certificatesPlan(settings),
    'sno-certificates',
    {
      'sign-expired': { deadline: 'certificatesMs' },
      'request-renewal': { deadline: 'certificatesMs' },
      'future-pods': { deadline: 'certificatesMs' },
    },
  ],
  [
    unsealPlan(settings),
    'sno-unseal',
    {
      'open-key': { deadline: 'unsealKeyMs' },
      'unseal-files': { deadline: 'unsealFilesMs', once: true },
      'mount-folders': { deadline: 'unsealFilesMs', once: true },
    },
  ],
  [
    renewPlan(settings),
    'sno-renew',
    {
      'renew-leaves': { deadline: 'renewLeavesMs', once: true },
      'kubelet-serving': { deadline: 'kubeletServingMs', once: true },
      'worker-serving': { deadline: 'workerServingMs', once: true },
      'laptop-ca': { deadline: 'laptopCaMs', once: true },
      'kubelet-certificates': { deadline: 'kubeletCertificatesMs', once: true },
      conclude: { deadline: 'finishMs', once: true },
    },
  ],
  [
    workerPlan(settings),
    'sno-worker',
    {
      marker: { deadline: 'finishMs' },
      preflight: { deadline: 'preflightMs' },
      payload: { deadline: 'payloadMs' },
      // Afterwards the token is deleted with which it would be requested again.
      'kubelet-identity': { deadline: 'workerApprovalMs', until: 'leftovers' },
      'kubelet-files': { deadline: 'identityMs', until: 'leftovers' },
      kubelet: { deadline: 'nodeKubeletMs', until: 'leftovers' },
      'pod-network': { deadline: 'podNetworkMs' },
      'serving-certificate': apiUntilClean('servingCertificateMs'),
      'node-ready': apiUntilClean('nodeReadyMs'),
      leftovers: { deadline: 'finishMs' },
      clean: { deadline: 'cleanMs' },
      'verify-clean': { deadline: 'verifyCleanMs', once: true },
      record: { deadline: 'finishMs', once: true },
      finish: { deadline: 'finishMs', once: true },
      retire: { deadline: 'retireMs', once: true, last: true },
    },
  ],
  [
    workerTrustPlan(settings),
    'sno-worker-trust',
    {
      'published-ca': { deadline: 'workerTrustMs' },
      kubelet: { deadline: 'kubeletMs' },
      confirm: { deadline: 'workerTrustMs' },
    },
  ],
  [
    approvePlan(settings),
    'sno-approve',
    // A day longer than an entry of the list may be valid.
    { 'approve-workers': { deadline: 15 * 86_400_000 } },
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
    identityPlan(settings),
    'sno-identity',
    {
      // Nothing is changed before it ends; a network that goes down later takes nothing back.
      check: { deadline: 'identityCheckMs', until: 'hold' },
      rebuild: { deadline: 'restoreRebuildMs', until: 'replace' },
      // The API is stopped: the next steps start it with the new files.
      hold: { deadline: 'identityHoldMs', until: 'files' },
      replace: { deadline: 'restoreReplaceMs', until: 'files' },
      authorities: { deadline: 'certificatesMs', until: 'start' },
      files: { deadline: 'identityFilesMs', until: 'start' },
      objects: { deadline: 'identityObjectsMs', until: 'start' },
      start: { deadline: 'identityStartMs', until: 'conclude' },
      'serving-certificate': { deadline: 'servingCertificateMs', until: 'conclude' },
      'node-ready': { deadline: 'nodeReadyMs', until: 'conclude' },
      'steady-state': { deadline: 'restoreSettleMs', until: 'conclude' },
      conclude: { deadline: 'finishMs' },
    },
  ],
  [followAddressPlan(settings), 'sno-address', { follow: { deadline: 'addressFollowMs' } }],
  [
    trialPlan(settings),
    'sno-trial',
    {
      'count-boot': { deadline: 'finishMs' },
      decide: { deadline: 'finishMs' },
      // The host is reached again, whatever fails afterwards.
      network: { deadline: 'finishMs' },
      files: { deadline: 'trialRevertMs' },
      database: { deadline: 'finishMs' },
      conclude: { deadline: 'finishMs' },
    },
  ],
  ...updatePlans(settings),
  ...reconfigurePlans(settings),
  ...factoryPlans(settings),
  [
    rotatePlan(settings),
    'sno-rotate',
    {
      // Its keys are used from then on; afterwards it cannot be repeated.
      stage: { deadline: 'rotateStageMs', until: 'trust-both' },
      'trust-both': { deadline: 'rotatePhaseMs', once: true, until: 'restart-workloads' },
      workers: {
        deadline: distinct('rotateWorkersMs') + distinct('finishMs'),
        once: true,
        until: 'use-new',
      },
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
      'node-role': { deadline: 'nodeRoleMs' },
      'add-ons': { deadline: 'addOnsMs', until: 'steady-state' },
      relocatable: { deadline: 'relocatableMs' },
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
    openShiftRestorePlan(settings),
    'sno-restore',
    {
      'check-identity': { deadline: 'identityMs' },
      'etcd-image': { deadline: 'payloadMs', until: 'restore-database' },
      'restore-database': { deadline: 'restoreMs' },
      'place-etcd': { deadline: 'finishMs', once: true },
    },
  ],
  [
    postRebootOpenShiftPlan(settings),
    'bootkube',
    {
      api: apiUntilClean('startWithPullsMs'),
      'bootstrap-complete': apiUntilClean('bootstrapCompleteMs'),
      'restore-overrides': { deadline: 'overridesMs' },
      'reload-kubelet': apiUntilClean('reloadKubeletMs'),
      'serving-certificate': apiUntilClean('servingCertificateMs'),
      'node-ready': apiUntilClean('startWithPullsMs'),
      'take-over': apiUntilClean('takeOverMs'),
      'hand-over': apiUntilClean('handOverMs'),
      'install-complete': apiUntilClean('installCompleteMs'),
      'withdraw-rights': apiUntilClean('overridesMs'),
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
      'mirror-pods': { deadline: 'kubeletMs' },
      manifests: { deadline: 'manifestsMs', until: 'leftovers' },
      'node-role': { deadline: 'nodeRoleMs' },
      'serving-certificate': apiUntilClean('servingCertificateMs'),
      'node-ready': apiUntilClean('nodeReadyMs'),
      'add-ons': { deadline: 'addOnsMs', until: 'steady-state' },
      relocatable: { deadline: 'relocatableMs' },
      'bootstrap-complete': apiUntilClean('bootstrapCompleteMs'),
      'steady-state': apiUntilClean('steadyStateMs'),
      leftovers: { deadline: 'finishMs' },
      clean: { deadline: 'cleanMs' },
      'verify-clean': { deadline: 'verifyCleanMs', once: true },
      record: { deadline: 'finishMs', once: true },
      complete: { deadline: 'completeMs' },
      finish: { deadline: 'finishMs', once: true },
      'continue-lost-host': { deadline: 'continueLostMs' },
      retire: { deadline: 'retireMs', once: true, last: true },
    },
  ],
];
