import type { Step } from './step.ts';

/** A step as its own file has it; the plan adds the deadline. */
export type StepBody<Context> = Omit<Step<Context>, 'deadlineMs'>;

/** Gives a step its deadline, so that a plan shows both on one line. */
export function within<Context>(deadlineMs: number, body: StepBody<Context>): Step<Context> {
  return { ...body, deadlineMs };
}
