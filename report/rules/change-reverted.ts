import type { Rule } from '../bundle-view.ts';
import { factsOf, fixOf, withCode } from '../reading/failure.ts';
import { aboutFailure, stepFailuresWith } from '../reading/steps.ts';

/** sno-trial takes a change of the host back that is not confirmed in time (lib/engine/trial). */
export const changeReverted: Rule = {
  name: 'change-reverted',
  looksFor:
    'a change of the host, such as an update, that was taken back because it did not settle: the last entries of the step journals of sno-trial and sno-update',
  codes: ['trial-reverted', 'trial-incomplete', 'trial-not-confirmed', 'update-reverted'],
  todo: 'The host is as it was before the change. Fix the cause before the change is made again; "sno-trial status" has the reason.',
  find(view) {
    return stepFailuresWith(view, 'trial-reverted', 'trial-incomplete', 'update-reverted').map(
      (failed) => {
        const { failure } = failed;
        const isIncomplete = withCode(failure, 'trial-incomplete') !== undefined;
        return {
          ...aboutFailure(failed),
          severity: isIncomplete ? 'failing' : 'warning',
          title: `A change of this host was taken back${isIncomplete ? ' incompletely' : ''}: ${factsOf(failure)}`,
          todo: fixOf(failure) ?? this.todo,
        };
      },
    );
  },
};
