import type { Plan } from '../../../lib/engine/steps/step.ts';

type PlanIdentity = Required<Pick<Plan<never>, 'unit' | 'purpose' | 'achieved'>>;

const AGENT = 'reconfigure-prepare';
const UNDO = 'reconfigure-prepare-undo';

/** Of `reconfigure prepare`, for each kind of control plane. */
export const preparing: PlanIdentity & { readonly agent: typeof AGENT } = {
  agent: AGENT,
  unit: AGENT,
  purpose: 'makes a running node relocatable',
  achieved: 'the node is relocatable: it keeps its address and its name at every site',
};

/** Of `reconfigure prepare --undo`. */
export const takingBack: PlanIdentity & { readonly agent: typeof UNDO } = {
  agent: UNDO,
  unit: UNDO,
  purpose: 'makes a relocatable node one of this site again',
  achieved: 'the node is one of this site',
};
