import type { Rule } from './bundle-view.ts';
import { aggregatedApiUnavailable } from './rules/aggregated-api-unavailable.ts';
import { apiNotAnswering } from './rules/api-not-answering.ts';
import { backupFailed } from './rules/backup-failed.ts';
import { backupOverdue } from './rules/backup-overdue.ts';
import { bootstrapLeftOver } from './rules/bootstrap-left-over.ts';
import { certificateExpired } from './rules/certificate-expired.ts';
import { certificateExpiresSoon } from './rules/certificate-expires-soon.ts';
import { certificateNotRenewed } from './rules/certificate-not-renewed.ts';
import { certificateNotYetValid } from './rules/certificate-not-yet-valid.ts';
import { changeReverted } from './rules/change-reverted.ts';
import { clockSkew } from './rules/clock-skew.ts';
import { clusterOperatorDegraded } from './rules/cluster-operator-degraded.ts';
import { containerRuntimeDown } from './rules/container-runtime-down.ts';
import { csrPending } from './rules/csr-pending.ts';
import { deferredWaiting } from './rules/deferred-waiting.ts';
import { diskFull } from './rules/disk-full.ts';
import { diskIoErrors } from './rules/disk-io-errors.ts';
import { diskRefused } from './rules/disk-refused.ts';
import { diskSlow } from './rules/disk-slow.ts';
import { dnsRecordMissing } from './rules/dns-record-missing.ts';
import { earlierEtc } from './rules/earlier-etc.ts';
import { etcdAlarm } from './rules/etcd-alarm.ts';
import { etcdDbLarge } from './rules/etcd-db-large.ts';
import { etcdNoLeader } from './rules/etcd-no-leader.ts';
import { imageDamaged } from './rules/image-damaged.ts';
import { imagePullFailing } from './rules/image-pull-failing.ts';
import { kubeletDown } from './rules/kubelet-down.ts';
import { kubeletNotRegistered } from './rules/kubelet-not-registered.ts';
import { manifestRejected } from './rules/manifest-rejected.ts';
import { mediumCaInUse } from './rules/medium-ca-in-use.ts';
import { memoryPressure } from './rules/memory-pressure.ts';
import { networkPluginNotReady } from './rules/network-plugin-not-ready.ts';
import { nodeIpChanged } from './rules/node-ip-changed.ts';
import { nodeNotReady } from './rules/node-not-ready.ts';
import { orderingCycle } from './rules/ordering-cycle.ts';
import { podCrashLooping } from './rules/pod-crash-looping.ts';
import { podEgressMissing } from './rules/pod-egress-missing.ts';
import { podNotStarting } from './rules/pod-not-starting.ts';
import { podUnschedulable } from './rules/pod-unschedulable.ts';
import { startRefused } from './rules/start-refused.ts';
import { staticPodCrashLooping } from './rules/static-pod-crash-looping.ts';
import { stepFailed } from './rules/step-failed.ts';
import { stepWaiting } from './rules/step-waiting.ts';
import { unitFailed } from './rules/unit-failed.ts';
import { webhookFailing } from './rules/webhook-failing.ts';

/** All rules, possible causes of others first: see causes.ts. */
export const rules: readonly Rule[] = [
  diskIoErrors,
  diskFull,
  memoryPressure,
  clockSkew,
  earlierEtc,
  certificateNotRenewed,
  certificateExpired,
  certificateNotYetValid,
  dnsRecordMissing,
  nodeIpChanged,
  diskRefused,
  manifestRejected,
  bootstrapLeftOver,
  orderingCycle,
  backupFailed,
  changeReverted,
  startRefused,
  containerRuntimeDown,
  imageDamaged,
  imagePullFailing,
  etcdAlarm,
  etcdNoLeader,
  staticPodCrashLooping,
  kubeletDown,
  apiNotAnswering,
  kubeletNotRegistered,
  networkPluginNotReady,
  nodeNotReady,
  podEgressMissing,
  csrPending,
  aggregatedApiUnavailable,
  webhookFailing,
  clusterOperatorDegraded,
  podUnschedulable,
  podNotStarting,
  podCrashLooping,
  deferredWaiting,
  unitFailed,
  stepFailed,
  stepWaiting,
  diskSlow,
  etcdDbLarge,
  certificateExpiresSoon,
  mediumCaInUse,
  backupOverdue,
];
