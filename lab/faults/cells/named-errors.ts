import type { FailureCode } from '../../../lib/base/errors/codes.ts';

/** The failures in which a run with a fault may end, and what their sentences must say. */
export const NAMED_ERRORS = {
  'journal-unwritable': /cannot write the step journal/,
  'disk-full': /no (room|space)|full/,
  'renewal-failed': /could not be renewed|the laptop's CA is still trusted/,
  'backup-no-space': /no room for|became full/,
  deadline: /deadline of \d+s exceeded|waited in vain/,
  'rpc-failed': /etcd|refused|answer/i,
  usage: /files in .* cannot be used/,
  'leaf-not-signed': /could not be signed again/,
  'restore-undone': /the backup .* could not be restored/,
  'rotation-rolled-back': /did not work; the old ones were restored/,
  'update-refused': /failed before anything was changed/,
  'update-reverted': /was taken back/,
} as const satisfies Readonly<Partial<Record<FailureCode, RegExp>>>;

export type NamedError = keyof typeof NAMED_ERRORS;
