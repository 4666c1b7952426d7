import { identity } from '../../lib/engine/agents/table.ts';
import type { Plan } from '../../lib/engine/steps/step.ts';
import { until, within } from '../../lib/engine/steps/within.ts';
import type { Settings } from '../../lib/host/settings.ts';
import { installedHost, liveHost } from '../../lib/render/hosts.ts';
import { controlPlane } from '../steps/control-plane.ts';
import { etcdServes } from '../steps/etcd.ts';
import type { HostContext, InstallContext } from '../steps/host-context.ts';
import { inspectDisk } from '../steps/inspect-disk.ts';
import { standaloneKubelet } from '../steps/kubelet.ts';
import { kubeletIdentity } from '../steps/kubelet-identity.ts';
import { applyAllManifests } from '../steps/manifests.ts';
import { payload } from '../steps/payload.ts';
import { inPlaceChecks, liveChecks, preflight } from '../steps/preflight/preflight.ts';
import { render } from '../steps/render.ts';
import { apiObjects } from './handover/api-objects.ts';
import { combinedIgnition } from './handover/combined-ignition.ts';
import { finish } from './handover/finish.ts';
import { logBundle } from './handover/log-bundle.ts';
import { masterIgnition } from './handover/master-ignition.ts';
import { quiesce } from './handover/quiesce.ts';
import { snapshot } from './handover/snapshot.ts';
import { stopEtcd } from './handover/stop-etcd.ts';
import { writeSealKey } from './seal-key.ts';

/** The live host, from inspecting its disk to the Ignition of the installed host. */
export const bootkubePlan = (s: Settings): Plan<InstallContext> => ({
  ...described,
  steps: [
    within(s, 'inspectDiskMs', inspectDisk),
    within(s, 'preflightMs', preflight(liveChecks)),
    ...bootstrap(s),
  ],
});

/** The same on a host without a live image, which runs from the disk that it will be installed to. */
export const bootkubeInPlacePlan = (s: Settings): Plan<HostContext> => ({
  ...described,
  steps: [within(s, 'preflightMs', preflight(inPlaceChecks)), ...bootstrap(s)],
});

const described = {
  ...identity('bootkube'),
  achieved: 'the cluster is prepared, and the Ignition config of the installed host is created',
};

const bootstrap = (s: Settings): Plan<HostContext>['steps'] => [
  within(s, 'unsealKeyMs', writeSealKey),
  within(s, 'payloadMs', payload),
  within(s, 'renderMs', render(liveHost, installedHost)),
  within(s, 'kubeletMs', until('stop-etcd', standaloneKubelet)),
  within(s, 'etcdMs', until('snapshot', etcdServes)),
  within(s, 'controlPlaneMs', until('quiesce', controlPlane)),
  within(s, 'manifestsMs', until('quiesce', applyAllManifests)),
  within(s, 'kubeletIdentityMs', kubeletIdentity),
  within(s, 'collectObjectsMs', apiObjects),
  within(s, 'quiesceMs', quiesce),
  within(s, 'snapshotMs', snapshot),
  within(s, 'stopEtcdMs', stopEtcd),
  within(s, 'logBundleMs', logBundle),
  within(s, 'masterIgnitionMs', masterIgnition),
  within(s, 'combineIgnitionMs', combinedIgnition),
  within(s, 'finishMs', finish),
];
