/** The reasons for the order of steps. Whoever moves a step must state the reason here too. */
import t from 'tap';
import { aiokubePlan } from '../../../agents/aiokube/plan.ts';
import { bootkubePlan } from '../../../agents/bootkube/plan.ts';
import { installToDiskPlan } from '../../../agents/install-to-disk/plan.ts';
import { postRebootOpenShiftPlan } from '../../../agents/post-reboot/openshift/plan.ts';
import { openShiftRestorePlan } from '../../../agents/post-reboot/openshift/restore/plan.ts';
import { postRebootPlan } from '../../../agents/post-reboot/plan.ts';
import { restorePlan } from '../../../agents/post-reboot/restore/plan.ts';
import { reconfigureOpenShiftPlan } from '../../../agents/reconfigure/openshift/plan.ts';
import {
  openShiftPreparePlan,
  openShiftUndoPlan,
} from '../../../agents/reconfigure/prepare/openshift/plan.ts';
import { preparePlan, undoPlan } from '../../../agents/reconfigure/prepare/plan.ts';
import { backupPlan } from '../../../agents/upkeep/backup/plan.ts';
import { backupRestorePlan } from '../../../agents/upkeep/backup/restore/plan.ts';
import { renewPlan } from '../../../agents/upkeep/renew/plan.ts';
import { rotatePlan } from '../../../agents/upkeep/rotate/plan.ts';
import { trialPlan } from '../../../agents/upkeep/trial/plan.ts';
import { unsealPlan } from '../../../agents/upkeep/unseal/plan.ts';
import { workerPlan } from '../../../agents/worker/plan.ts';
import { workerTrustPlan } from '../../../agents/worker/trust/plan.ts';
import type { Plan } from '../../../lib/engine/steps/step.ts';
import { defaultSettings as settings } from '../../../lib/host/settings.ts';

type Reason = [plan: Plan<never>, before: string, after: string, why: string];

/** What must come before what, and why. */
const reasons: Reason[] = [
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
  [
    openShiftPreparePlan(settings),
    'node-record',
    'factory-policy',
    'the policy has the address of the record',
  ],
  [
    openShiftPreparePlan(settings),
    'cluster-record',
    'factory-policy',
    'who reads a policy reads the description of the cluster, too',
  ],
  [
    openShiftUndoPlan(settings),
    'node-record',
    'cluster-record',
    'a command that is repeated has to find its host',
  ],
  [
    openShiftPreparePlan(settings),
    'agent-units',
    'factory-policy',
    'a policy says that the host is relocatable: what takes a volume back is there before',
  ],
  [
    openShiftUndoPlan(settings),
    'factory-policy',
    'agent-units',
    'a volume that arrives meanwhile is refused',
  ],
  ...[preparePlan(settings), openShiftPreparePlan(settings)].map(
    (plan): Reason => [
      plan,
      'factory-policy',
      'medium-rule',
      'a volume that arrives before is looked at without a policy',
    ],
  ),
  ...[undoPlan(settings), openShiftUndoPlan(settings)].map(
    (plan): Reason => [plan, 'medium-rule', 'factory-policy', 'the same'],
  ),
  ...['internal-address', 'node-name', 'node-ports'].flatMap((each): Reason[] => [
    [preparePlan(settings), each, 'factory-policy', 'a policy says that the host is relocatable'],
    [undoPlan(settings), 'factory-policy', each, 'a volume that arrives meanwhile is refused'],
  ]),
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
  [unsealPlan(settings), 'open-key', 'unseal-files', 'the files are opened with the key'],
  [
    unsealPlan(settings),
    'unseal-files',
    'mount-folders',
    'who reads one of them finds all, or an empty folder',
  ],
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
  [postRebootPlan(settings), 'node-role', 'steady-state', 'the label is a change'],
  [postRebootPlan(settings), 'node-role', 'clean', 'the key that sets it is deleted'],
  [postRebootPlan(settings), 'add-ons', 'complete', 'Services and DNS are a part of the cluster'],
  [postRebootPlan(settings), 'steady-state', 'clean', 'what may still be needed is not deleted'],
  [aiokubePlan(settings), 'relocatable', 'complete', 'a node may be switched off when it says so'],
  [
    postRebootPlan(settings),
    'relocatable',
    'complete',
    'a node may be switched off when it says so',
  ],
  [postRebootPlan(settings), 'bootstrap-complete', 'clean', 'the key that publishes it is deleted'],
  [postRebootPlan(settings), 'clean', 'verify-clean', 'there is nothing to prove before'],
  [postRebootPlan(settings), 'verify-clean', 'record', 'the record says that it is complete'],
  [postRebootPlan(settings), 'record', 'complete', 'a client may take the record at once'],
  [postRebootPlan(settings), 'complete', 'retire', 'only this agent is left to remove'],
  [postRebootPlan(settings), 'record', 'retire', 'it is made of the state that retire deletes'],
  [reconfigureOpenShiftPlan(settings), 'check', 'arm', 'what is refused has changed nothing'],
  [reconfigureOpenShiftPlan(settings), 'arm', 'stop', 'the originals are the trial’s from then on'],
  [
    reconfigureOpenShiftPlan(settings),
    'stop',
    'network',
    'pods see no two networks, and nothing makes the bridge meanwhile',
  ],
  [reconfigureOpenShiftPlan(settings), 'network', 'clock', 'time servers are asked over it'],
  [reconfigureOpenShiftPlan(settings), 'local-names', 'start', 'operators dial the names at once'],
  [
    reconfigureOpenShiftPlan(settings),
    'clock',
    'start',
    'certificates that operators make with a wrong clock are not valid later',
  ],
  [
    reconfigureOpenShiftPlan(settings),
    'start',
    'certificates',
    'they are valid from now on, by a clock that the host keeps',
  ],
  [reconfigureOpenShiftPlan(settings), 'certificates', 'objects', 'objects name them'],
  [
    reconfigureOpenShiftPlan(settings),
    'objects',
    'routes',
    'Routes get hosts in the domain that the objects name',
  ],
  [reconfigureOpenShiftPlan(settings), 'routes', 'settle', 'operators roll out what has moved'],
  [
    reconfigureOpenShiftPlan(settings),
    'settle',
    'names',
    'a server that is not rolled out shows another certificate',
  ],
  [reconfigureOpenShiftPlan(settings), 'names', 'confirm', 'it is done when it was dialled'],
  [
    openShiftRestorePlan(settings),
    'etcd-image',
    'restore-database',
    'the program that restores is in the image',
  ],
  [
    openShiftRestorePlan(settings),
    'restore-database',
    'place-etcd',
    'etcd would begin an empty cluster',
  ],
  ...(
    [
      ['bootstrap-complete', 'take-over', "etcd's operator waits for it (ceohelpers/bootstrap.go)"],
      ['restore-overrides', 'take-over', 'the version operator leaves unmanaged objects alone'],
      ['reload-kubelet', 'node-ready', "the node's address is in a drop-in"],
      ['take-over', 'hand-over', 'a pod of the bootstrap goes when there is another'],
      ['hand-over', 'install-complete', 'two pods of a component fight over its ports'],
      ['hand-over', 'clean', 'pods of the bootstrap mount what is deleted'],
      ['install-complete', 'clean', 'what may still be needed is not deleted'],
      ['serving-certificate', 'withdraw-rights', 'the rights are for it'],
      ['withdraw-rights', 'clean', 'the key that withdraws them is deleted'],
      ['clean', 'verify-clean', 'there is nothing to prove before'],
      ['record', 'complete', 'a client may take the record at once'],
      ['record', 'retire', 'it is made of the state that retire deletes'],
    ] as const
  ).map(([before, after, why]): [Plan<never>, string, string, string] => [
    postRebootOpenShiftPlan(settings),
    before,
    after,
    why,
  ]),
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
  [aiokubePlan(settings), 'control-plane', 'mirror-pods', 'a ready API server accepts them'],
  [aiokubePlan(settings), 'mirror-pods', 'manifests', 'no workload sees the kubelet restart'],
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
  [rotatePlan(settings), 'trust-both', 'workers', 'the cluster publishes both from then on'],
  [rotatePlan(settings), 'workers', 'use-new', 'a worker that knows only the old one may be lost'],
  [
    rotatePlan(settings),
    'workers',
    'restart-workloads',
    'pods are deleted when nothing is in the way',
  ],
  [workerTrustPlan(settings), 'published-ca', 'kubelet', 'it reads the file when it starts'],
  [workerTrustPlan(settings), 'kubelet', 'confirm', 'what is confirmed is what the kubelet trusts'],
  [workerPlan(settings), 'payload', 'kubelet-files', 'they depend on its versions'],
  [workerPlan(settings), 'kubelet-identity', 'kubelet-files', 'it tells its CA from the others'],
  [workerPlan(settings), 'kubelet-files', 'kubelet', 'it reads them when it starts'],
  [workerPlan(settings), 'kubelet', 'pod-network', 'it registers the Node that gets the subnets'],
  [workerPlan(settings), 'kubelet', 'serving-certificate', 'it requests the certificate'],
  [workerPlan(settings), 'pod-network', 'node-ready', 'no Node is Ready without it'],
  [workerPlan(settings), 'node-ready', 'leftovers', 'the token is needed until it has joined'],
  [workerPlan(settings), 'leftovers', 'clean', 'only what is listed is deleted'],
  [workerPlan(settings), 'clean', 'verify-clean', 'there is nothing to prove before'],
  [workerPlan(settings), 'verify-clean', 'finish', 'the marker says that it is complete'],
  [workerPlan(settings), 'finish', 'retire', 'only this agent is left to remove'],
  [trialPlan(settings), 'count-boot', 'decide', 'it judges by the boots that were seen'],
  [trialPlan(settings), 'decide', 'network', 'only what is decided is taken back'],
  [trialPlan(settings), 'network', 'files', 'the host is reached, whatever fails afterwards'],
  [trialPlan(settings), 'files', 'database', 'the executable from before restores it'],
  [trialPlan(settings), 'database', 'conclude', 'the points of return are deleted at the end'],
  [aiokubePlan(settings), 'complete', 'finish', 'the cluster knows it too by then'],
  [aiokubePlan(settings), 'finish', 'retire', 'only this agent is left to remove'],
];
for (const [{ agent, steps }, before, after, why] of reasons) {
  t.test(`${agent}: ${before} before ${after}: ${why}`, async (t) => {
    const position = (name: string) => steps.findIndex((step) => step.name === name);
    t.ok(position(before) >= 0 && position(before) < position(after));
  });
}
