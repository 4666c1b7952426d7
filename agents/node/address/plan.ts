import { identity } from '../../../lib/agents/table.ts';
import type { Settings } from '../../../lib/host/settings.ts';
import type { Plan } from '../../../lib/steps/step.ts';
import { within } from '../../../lib/steps/within.ts';
import type { AddressContext } from './context.ts';
import { follow } from './follow.ts';

/** When an interface has got addresses, and at each boot. The change itself is the plan of sno-identity. */
export const addressPlan = (s: Settings): Plan<AddressContext> => ({
  ...identity('sno-address'),
  achieved: 'the host has the addresses of its Node, or a change to those that it has is under way',
  steps: [within(s, 'addressFollowMs', follow)],
});
