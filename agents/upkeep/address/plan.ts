import { identity } from '../../../lib/engine/agents/table.ts';
import type { Plan } from '../../../lib/engine/steps/step.ts';
import { within } from '../../../lib/engine/steps/within.ts';
import type { Settings } from '../../../lib/host/settings.ts';
import type { AddressContext } from './context.ts';
import { follow } from './follow.ts';

/** When an interface has got addresses, and at each boot. The change itself is the plan of sno-identity. */
export const followAddressPlan = (s: Settings): Plan<AddressContext> => ({
  ...identity('sno-address'),
  achieved: 'the host has the addresses of its Node, or a change to those that it has is under way',
  steps: [within(s, 'addressFollowMs', follow)],
});
