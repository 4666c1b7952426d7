import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import type { HostContext } from '../../steps/host-context.ts';
import { waitAndLogRevisions } from './wait.ts';

/**
 * Waits until the operators have replaced the bootstrap's static pods of etcd, the API server, the
 * controller-manager and the scheduler with their own.
 */
export const takeOver: StepBody<HostContext> = {
  name: 'take-over',
  leaves: "the operators' own static pods, Ready since this boot",
  touches: ['api'],
  retries: true,
  neededUntil: 'clean',
  input: ({ hostname }) => hostname(),
  // An operator never goes back to the bootstrap's pod; a later step waits for its newest one.
  holds: async () => true,
  async run(context, progress) {
    const what = 'the operators to take over the static pods';
    return done(await waitAndLogRevisions(context, progress, 'taken-over', what));
  },
};
