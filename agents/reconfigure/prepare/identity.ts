import type { Plan } from '../../../lib/engine/steps/step.ts';

type PlanIdentity = Required<Pick<Plan<never>, 'agent' | 'unit' | 'purpose' | 'achieved'>>;

const AGENT = 'reconfigure-prepare';

/** Of `reconfigure prepare`, for each kind of control plane. */
export const preparing: PlanIdentity = {
  agent: AGENT,
  unit: AGENT,
  purpose: 'makes a running node relocatable',
  achieved: 'the node is relocatable: it keeps its address and its name at every site',
};

/** Of `reconfigure prepare --undo`. */
export const takingBack: PlanIdentity = {
  agent: `${AGENT}-undo`,
  unit: `${AGENT}-undo`,
  purpose: 'makes a relocatable node one of this site again',
  achieved: 'the node is one of this site',
};
