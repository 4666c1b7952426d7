import type { Settings } from '../../host/settings.ts';
import type { Step } from './step.ts';

/** A step as its own file defines it: the plan adds the deadline, the settings add the pause. */
export interface StepBody<Context> extends Omit<Step<Context>, 'deadlineMs' | 'retry'> {
  /** Set where a retry can help; otherwise a retryable failure ends the run. */
  readonly retries?: true;
}

type DurationSetting = {
  [Name in keyof Settings]: Name extends `${string}Ms` ? Name : never;
}[keyof Settings];

/** Gives a step its deadline by the name of the setting, so that a plan shows both on one line. */
export function within<Context>(
  settings: Settings,
  deadline: DurationSetting,
  { retries, ...body }: StepBody<Context>,
): Step<Context> {
  const retry = retries === true ? { retry: { delayMs: settings.retryMs } } : {};
  return { ...body, ...retry, deadlineMs: settings[deadline] };
}

/**
 * States in a plan that the result of a step is consumed by a later one (`Step.neededUntil`); other
 * plans with the same step may need it longer.
 */
export const until = <Context>(later: string, body: StepBody<Context>): StepBody<Context> => ({
  ...body,
  neededUntil: later,
});
