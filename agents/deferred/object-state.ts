import type { ApplyAttempt } from '../../lib/clients/kube/apply-one.ts';
import type { Manifest } from '../../lib/clients/kube/manifest-decoding.ts';

/**
 * The state of a deferred manifest, as its entry in the status ConfigMap. The first
 * word is for programs: `waiting`, `applied`, `rejected` or `expired`.
 */
export type ObjectState = string;

/** Maximum length of a server's reason quoted in an entry. */
const MAX_REASON = 1000;

export const notTried: ObjectState = 'waiting: not tried yet';

/** The state after an attempt. */
export function stateAfter(
  attempt: ApplyAttempt,
  { apiVersion, kind }: Pick<Manifest, 'apiVersion' | 'kind'>,
  now: Date,
): ObjectState {
  switch (attempt.kind) {
    case 'created':
      return `applied ${now.toISOString()}${warned(attempt)}`;
    case 'existing':
      return `applied ${now.toISOString()}, it existed already${warned(attempt)}`;
    case 'rejected':
      return `rejected: ${brief(attempt.reason)}`;
    case 'unserved':
      return `waiting for ${kind} in ${apiVersion} to be served`;
    case 'waits':
      return `waiting: ${brief(attempt.reason)}`;
  }
}

/** The state at the expiry: a waiting manifest expires, once. */
export function stateAtExpiry(state: ObjectState, now: Date): ObjectState {
  return state.startsWith('waiting') ? `expired ${now.toISOString()}, ${state}` : state;
}

export const isApplied = (state: ObjectState): boolean => /^applied\b/.test(state);
export const isRejected = (state: ObjectState): boolean => /^rejected\b/.test(state);

function warned({ warnings = [] }: ApplyAttempt): string {
  return warnings.length === 0 ? '' : `, the API warned: ${brief(warnings.join('; '))}`;
}

function brief(reason: string): string {
  const line = reason.replaceAll(/\s+/g, ' ');
  return line.length <= MAX_REASON ? line : `${line.slice(0, MAX_REASON)} …`;
}
