import { isSystemError, systemErrorText } from '../../lib/base/errors/system-error.ts';

/** Records a failure of the work as one more fault of `label`, so that all files are checked. */
export async function noting(
  faults: string[],
  label: string,
  signal: AbortSignal,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    signal.throwIfAborted();
    faults.push(`${label}: ${faultText(error)}`);
  }
}

/** Any thrown value on one line. */
export function faultText(error: unknown): string {
  if (isSystemError(error)) return systemErrorText(error);
  return error instanceof Error ? error.message : String(error);
}
