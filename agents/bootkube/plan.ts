import type { Settings } from '../../lib/host/settings.ts';
import type { Plan } from '../../lib/steps/step.ts';
import { within } from '../../lib/steps/within.ts';
import { apiObjects } from './api-objects.ts';
import { combinedIgnition } from './combined-ignition.ts';
import type { LiveContext } from './context.ts';
import { controlPlane } from './control-plane.ts';
import { etcd } from './etcd.ts';
import { finish } from './finish.ts';
import { inspectDisk } from './inspect-disk.ts';
import { kubelet } from './kubelet.ts';
import { kubeletIdentity } from './kubelet-identity.ts';
import { logBundle } from './log-bundle.ts';
import { manifests } from './manifests.ts';
import { masterIgnition } from './master-ignition.ts';
import { payload } from './payload.ts';
import { preflight } from './preflight/preflight.ts';
import { quiesce } from './quiesce.ts';
import { render } from './render.ts';
import { snapshot } from './snapshot.ts';
import { stopEtcd } from './stop-etcd.ts';

/** What happens to the live host, from a look at its disk to the Ignition of the installed one. */
export const bootkubePlan = (s: Settings): Plan<LiveContext> => ({
  agent: 'bootkube',
  unit: 'bootkube',
  purpose:
    'bootstraps the control plane on this live host and makes the Ignition of the installed one',
  achieved: 'the cluster is prepared, and the Ignition of the installed host is made',
  steps: [
    within(s, 'inspectDiskMs', inspectDisk),
    within(s, 'preflightMs', preflight),
    within(s, 'payloadMs', payload),
    within(s, 'renderMs', render),
    within(s, 'kubeletMs', kubelet),
    within(s, 'etcdMs', etcd),
    within(s, 'controlPlaneMs', controlPlane),
    within(s, 'manifestsMs', manifests),
    within(s, 'kubeletIdentityMs', kubeletIdentity),
    within(s, 'collectObjectsMs', apiObjects),
    within(s, 'quiesceMs', quiesce),
    within(s, 'snapshotMs', snapshot),
    within(s, 'stopEtcdMs', stopEtcd),
    within(s, 'logBundleMs', logBundle),
    within(s, 'masterIgnitionMs', masterIgnition),
    within(s, 'combineIgnitionMs', combinedIgnition),
    within(s, 'finishMs', finish),
  ],
});
