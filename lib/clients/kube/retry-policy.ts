import { isKubeError, type KubeError } from './kube-error.ts';

/**
 * Refusals (403) that resolve themselves, because what the admission plug-in looks for
 * is being created or is not in its cache yet: a quota that the controller has not
 * counted, the namespace's default service account, a new priority or runtime class.
 */
const passingRefusals: readonly RegExp[] = [
  /status unknown for quota/,
  /error looking up service account/,
  /no PriorityClass with name .* was found/,
  /RuntimeClass .* not found/,
  /not yet ready to handle request/,
  // Plug-ins of OpenShift, until the definitions exist that they watch.
  /caches? (?:is )?not synchronized/,
  /could not list rolebinding restrictions/,
  // The authorizer's, about the client's rights. They can be granted later, and a server that
  // has just started does not know all roles yet.
  /User "[^"]*" cannot (?:get|create|update) (?:resource|path)/,
];

/** Whether the same request may succeed later. */
export function isTransient({ kind, code, causes, message }: KubeError): boolean {
  if (kind !== 'rejected' || causes.includes('NamespaceTerminating')) return true;
  return code === 403 && passingRefusals.some((pattern) => pattern.test(message));
}

/** Whether a create failed because the object exists and is not being deleted. */
export function isExisting(error: unknown): boolean {
  return (
    isKubeError(error, 'conflict') &&
    error.reason === 'AlreadyExists' &&
    !error.message.includes('object is being deleted')
  );
}
