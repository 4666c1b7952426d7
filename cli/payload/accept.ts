import { Failure } from '../../lib/base/errors/failure.ts';
import type { Payload } from '../../lib/payload/payload.ts';
import { judgeVersions, type VersionUse } from '../../lib/payload/supported.ts';
import { statedVersionFaults } from './measured.ts';

export interface AcceptOptions {
  /** Also versions that this release has not been run with. */
  acceptUntested?: boolean;
}

/** Of commander: an option of every command that takes a payload. */
export const acceptUntested = [
  '--accept-untested',
  'accept versions that this release has not been run with (see "sno explain versions")',
] as const;

/**
 * What to tell about versions. `what` names the payload. No host repeats this judgement: what is accepted here is
 * pinned by its digest or signature.
 * @throws Failure (usage) for versions that are too old, or untested and not accepted
 */
export function acceptedVersions(
  what: string,
  versions: Payload['versions'],
  use: VersionUse,
  options: AcceptOptions,
): string[] {
  const { refused, untested, notices } = judgeVersions(versions, use);
  if (refused.length > 0) throw new Failure('usage', `${what}: ${refused.join('; ')}`);
  if (untested.length === 0) return [...notices];
  if (options.acceptUntested === true) return [...untested, ...notices];
  throw new Failure('usage', `${what}: ${untested.join('; ')}`, {
    fix: 'To use it all the same, add --accept-untested.',
  });
}

/**
 * The same for a payload's folder, whose description has to state what its parts do. The images are not read.
 * @throws Failure (usage)
 */
export async function acceptedPayload(
  payload: Payload,
  use: VersionUse,
  options: AcceptOptions,
  signal: AbortSignal,
): Promise<string[]> {
  const faults = await statedVersionFaults(payload, signal);
  if (faults.length > 0) {
    throw new Failure('usage', `${payload.directory}: ${faults.join('; ')}`, {
      fix: 'Create the payload again, without options for versions.',
    });
  }
  return acceptedVersions(payload.directory, payload.versions, use, options);
}
