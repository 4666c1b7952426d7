import type { Plan } from '../../../lib/engine/steps/step.ts';
import type { Settings } from '../../../lib/host/settings.ts';

/**
 * A step's own deadline setting, or milliseconds; `once`: it is not retried; `until`: the step that consumes its
 * result; `last`: it removes the agent's own state.
 */
export interface Expected {
  readonly deadline: keyof Settings | number;
  readonly once?: true;
  readonly until?: string;
  readonly last?: true;
}

export type ExpectedPlan = [plan: Plan<never>, unit: string, steps: Record<string, Expected>];
