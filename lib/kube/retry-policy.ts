import { isKubeError, type KubeError } from './kube-error.ts';

/**
 * Refusals (403) that end by themselves, since what the plug-in
 * looks for is being made or is not in its cache yet:
 * a quota that the controller has not counted, the namespace's default service
 * account, a priority or runtime class created a moment ago.
 */
const passingRefusals: readonly RegExp[] = [
  /status unknown for quota/,
  /error looking up service account/,
  /no PriorityClass with name .* was found/,
  /RuntimeClass .* not found/,
  /not yet ready to handle request/,
  // The authorizer's: of the client's rights, not of the object. They can be given later, and a
  // server that has just started does not know all roles yet.
  /User "[^"]*" cannot (?:get|create|update) (?:resource|path)/,
];

/** Whether the same request may succeed later. */
export function isTransient({ kind, code, causes, message }: KubeError): boolean {
  if (kind !== 'rejected' || causes.includes('NamespaceTerminating')) return true;
  return code === 403 && passingRefusals.some((pattern) => pattern.test(message));
}

/** Whether a create failed because the object is there (and is not on its way out). */
export function isExisting(error: unknown): boolean {
  return (
    isKubeError(error, 'conflict') &&
    error.reason === 'AlreadyExists' &&
    !error.message.includes('object is being deleted')
  );
}
