import type { Plan } from '../../../lib/engine/steps/step.ts';
import { within } from '../../../lib/engine/steps/within.ts';
import type { Settings } from '../../../lib/host/settings.ts';
import type { HostContext } from '../../steps/host-context.ts';
import {
  type FactoryContext,
  factoryPolicy,
  withoutFactoryPolicy,
} from '../../steps/relocatable/factory-policy.ts';
import {
  internalAddress,
  withoutInternalAddress,
} from '../../steps/relocatable/internal-address.ts';
import { mediumRule, withoutMediumRule } from '../../steps/relocatable/media-rule.ts';
import { nodeName, withoutNodeName } from '../../steps/relocatable/node-name.ts';
import { nodePorts, withoutNodePorts } from '../../steps/relocatable/node-ports.ts';
import { preparing, takingBack } from './identity.ts';

/** Makes a running node relocatable. Nothing of the cluster restarts but kube-proxy. */
export const preparePlan = (s: Settings): Plan<FactoryContext> => ({
  ...preparing,
  steps: [
    within(s, 'relocatableMs', internalAddress),
    within(s, 'relocatableMs', nodeName),
    within(s, 'relocatableMs', nodePorts),
    within(s, 'relocatableMs', factoryPolicy),
    // Last: a volume that arrives before is looked at without a policy.
    within(s, 'relocatableMs', mediumRule),
  ],
});

/** The same, backwards. The rule and the policy go first: a volume that arrives meanwhile is refused. */
export const undoPlan = (s: Settings): Plan<HostContext> => ({
  ...takingBack,
  steps: [
    within(s, 'relocatableMs', withoutMediumRule),
    within(s, 'relocatableMs', withoutFactoryPolicy),
    within(s, 'relocatableMs', withoutNodePorts),
    within(s, 'relocatableMs', withoutNodeName),
    within(s, 'relocatableMs', withoutInternalAddress),
  ],
});
