import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import type { HostContext } from '../../steps/host-context.ts';
import { waitAndLogRevisions } from './wait.ts';

/**
 * Waits until `openshift-install wait-for install-complete` would end, and until the newest revision of
 * each static pod runs.
 */
export const installComplete: StepBody<HostContext> = {
  name: 'install-complete',
  leaves:
    'an Available version, operators that do not progress, static pods of the newest revision',
  touches: ['api'],
  retries: true,
  neededUntil: 'clean',
  input: ({ hostname }) => hostname(),
  // What the clean-up deletes has not been needed since the take-over.
  holds: async () => true,
  async run(context, progress) {
    const what = 'the installation of the cluster';
    return done(await waitAndLogRevisions(context, progress, 'installed', what));
  },
};
