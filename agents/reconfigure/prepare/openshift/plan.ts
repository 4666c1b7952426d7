import type { Plan } from '../../../../lib/engine/steps/step.ts';
import { within } from '../../../../lib/engine/steps/within.ts';
import type { Settings } from '../../../../lib/host/settings.ts';
import type { HostContext } from '../../../steps/host-context.ts';
import {
  type FactoryContext,
  factoryPolicy,
  withoutFactoryPolicy,
} from '../../../steps/relocatable/factory-policy.ts';
import { mediumRule, withoutMediumRule } from '../../../steps/relocatable/media-rule.ts';
import { NEVER_RUN } from '../../openshift/never-run.ts';
import { preparing, takingBack } from '../identity.ts';
import type { FixedNode } from './accept.ts';
import { agentUnits, withoutAgentUnits } from './agent-units.ts';
import { clusterRecord, withoutClusterRecord } from './cluster-record.ts';
import { nodeRecord, withoutNodeRecord } from './node-record.ts';
import { pinnedImages, withoutPinnedImages } from './pinned-images.ts';

/** A host of OpenShift as the factory prepares it. */
export interface OpenShiftFactoryContext extends FactoryContext {
  readonly node: FixedNode;
}

/**
 * Makes a running node of OpenShift relocatable. Address, name and the seal's condition are those of its MachineConfig; nothing
 * of the cluster is changed, and nothing restarts.
 */
export const openShiftPreparePlan = (s: Settings): Plan<OpenShiftFactoryContext> => ({
  ...preparing,
  achieved: `${preparing.achieved}. ${NEVER_RUN}`,
  steps: [
    within(s, 'relocatableMs', clusterRecord),
    within(s, 'relocatableMs', nodeRecord),
    within(s, 'relocatableMs', agentUnits),
    within(s, 'relocatableMs', pinnedImages),
    within(s, 'relocatableMs', factoryPolicy),
    within(s, 'relocatableMs', mediumRule),
  ],
});

/** The same, backwards. What the MachineConfig has stays: the node keeps its address and its name in any case. */
export const openShiftUndoPlan = (s: Settings): Plan<HostContext> => ({
  ...takingBack,
  steps: [
    within(s, 'relocatableMs', withoutMediumRule),
    within(s, 'relocatableMs', withoutFactoryPolicy),
    within(s, 'relocatableMs', withoutPinnedImages),
    within(s, 'relocatableMs', withoutAgentUnits),
    within(s, 'relocatableMs', withoutNodeRecord),
    within(s, 'relocatableMs', withoutClusterRecord),
  ],
});
