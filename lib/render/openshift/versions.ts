import { Failure } from '../../base/errors/failure.ts';
import type { Minor } from '../../base/minor.ts';
import { judgeRelease, productOf } from '../../config/openshift/judge-release.ts';

/**
 * The minor version whose stages render a release such as 4.21.3 or 4.21.0-0.nightly-2026-01-01-000000: its own, or that of the
 * newest known release if an unknown one was accepted.
 * @throws Failure (usage) if the release is not known
 */
export function stagesMinor(version: string, isUnknownAccepted: boolean): Minor {
  const judged = judgeRelease('render', version, isUnknownAccepted);
  if (judged.ok) return judged.as;
  const { expected, found, fix } = judged;
  throw new Failure('usage', `${productOf(version)} ${version} cannot be rendered`, {
    expected,
    found,
    fix: `${fix} The Ignition config says so to the host: create it again.`,
  });
}
