import { identity } from '../../lib/engine/agents/table.ts';
import type { Plan } from '../../lib/engine/steps/step.ts';
import { type StepBody, until, within } from '../../lib/engine/steps/within.ts';
import type { Settings } from '../../lib/host/settings.ts';
import { aioHost } from '../../lib/render/hosts.ts';
import { applyAddOns } from '../steps/add-ons.ts';
import { bootstrapComplete } from '../steps/bootstrap-complete.ts';
import { clean } from '../steps/clean.ts';
import { announce, complete } from '../steps/complete.ts';
import { controlPlane } from '../steps/control-plane.ts';
import { etcdServes } from '../steps/etcd.ts';
import type { HostContext } from '../steps/host-context.ts';
import { nodeKubelet } from '../steps/kubelet.ts';
import { applyAllManifests } from '../steps/manifests.ts';
import { marker } from '../steps/marker.ts';
import { awaitNodeReady } from '../steps/node-ready.ts';
import { nodeRole } from '../steps/node-role.ts';
import { payload } from '../steps/payload.ts';
import { aioChecks, preflight } from '../steps/preflight/preflight.ts';
import { record } from '../steps/record.ts';
import { relocatable } from '../steps/relocatable/relocatable.ts';
import { render } from '../steps/render.ts';
import { retireAgent } from '../steps/retire.ts';
import { servingCertificate } from '../steps/serving-certificate.ts';
import { steadyState } from '../steps/steady-state.ts';
import { verifyClean } from '../steps/verify-clean.ts';
import { continueLost } from './continue-lost.ts';
import { finishAio } from './finish.ts';
import { aioHostIdentity } from './host-identity.ts';
import { aioKubeletIdentity } from './kubelet-identity.ts';
import { aioLeftovers } from './leftovers.ts';
import { mirrorPods } from './mirror-pods.ts';

/** The clean-up deletes what these were created from, and what their checks read. */
const untilLeftovers = (body: StepBody<HostContext>) => until('leftovers', body);

/** An all-in-one host, from the first boot of its disk to the end of this agent. */
export const aiokubePlan = (s: Settings): Plan<HostContext> => ({
  ...identity('aiokube'),
  achieved:
    'PASS: the cluster is installed and in its steady state, and nothing of the installation is left',
  announce,
  steps: [
    within(s, 'finishMs', marker),
    within(s, 'preflightMs', preflight(aioChecks)),
    within(s, 'payloadMs', payload),
    within(s, 'renderMs', untilLeftovers(render(aioHost))),
    within(s, 'identityMs', untilLeftovers(aioHostIdentity)),
    within(s, 'kubeletIdentityMs', untilLeftovers(aioKubeletIdentity)),
    within(s, 'nodeKubeletMs', untilLeftovers(nodeKubelet)),
    within(s, 'etcdMs', untilLeftovers(etcdServes)),
    within(s, 'controlPlaneMs', untilLeftovers(controlPlane)),
    within(s, 'kubeletMs', mirrorPods),
    within(s, 'manifestsMs', untilLeftovers(applyAllManifests)),
    within(s, 'nodeRoleMs', nodeRole),
    within(s, 'servingCertificateMs', servingCertificate),
    within(s, 'nodeReadyMs', awaitNodeReady),
    within(s, 'addOnsMs', applyAddOns),
    within(s, 'relocatableMs', relocatable),
    within(s, 'bootstrapCompleteMs', bootstrapComplete),
    within(s, 'steadyStateMs', steadyState('aiokube')),
    within(s, 'finishMs', aioLeftovers),
    within(s, 'cleanMs', clean),
    within(s, 'verifyCleanMs', verifyClean),
    within(s, 'finishMs', record('aiokube')),
    within(s, 'completeMs', complete),
    within(s, 'finishMs', finishAio),
    within(s, 'continueLostMs', continueLost),
    within(s, 'retireMs', retireAgent('aiokube')),
  ],
});
