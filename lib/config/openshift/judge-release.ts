import { compareMinors, type Minor, minorOf } from '../../base/minor.ts';
import { OPENSHIFT_RELEASES, type OpenShiftReleaseRow, type ReleasePart } from './releases.ts';

/** What a person says to go on with a release of which nothing was read. */
export const ACCEPT_UNKNOWN_RELEASE = '--accept-unknown-release';

/** Of commander: an option of every command that judges a release. */
export const acceptUnknownRelease = [
  ACCEPT_UNKNOWN_RELEASE,
  'accept a newer release of OpenShift than this program knows, and treat it as the newest known one',
] as const;

/** What each part does, as the subject of a sentence. */
const PARTS: Readonly<Record<ReleasePart, string>> = {
  takeOver: 'taking over an Ignition config',
  render: 'rendering the control plane',
  relocate: 'relocation',
};

export type JudgedRelease =
  | {
      readonly ok: true;
      readonly minor: Minor;
      /** The release as which it is treated: itself, or the newest one before it that is known. */
      readonly as: Minor;
      /** What to tell of a release that is accepted although it is unknown. */
      readonly notice?: string;
    }
  | { readonly ok: false; readonly expected: string; readonly found: string; readonly fix: string };

/**
 * Whether a part knows the release of this version, such as 4.21.3, 4.21.0-okd-scos.3 or 5.0.0-ec.1. An older release than the
 * part knows is refused whatever is accepted: nobody has looked for what it does not have yet.
 */
export function judgeRelease(
  part: ReleasePart,
  version: string | undefined,
  isUnknownAccepted: boolean,
): JudgedRelease {
  const known = OPENSHIFT_RELEASES.filter((row) => row[part] !== undefined);
  const minor = version === undefined ? undefined : minorOf(version);
  const before = minor === undefined ? undefined : newestUntil(known, minor);
  const expected = `${productOf(version)} ${rangeOf(known)}, the releases that ${PARTS[part]} knows`;
  const found = version ?? 'no version';
  if (minor === undefined || before === undefined) {
    return { ok: false, expected, found, fix: 'Use one of these releases.' };
  }
  if (before.minor === minor) return { ok: true, minor, as: minor };
  if (isUnknownAccepted) {
    const notice = `${productOf(version)} ${version} is unknown to ${PARTS[part]}, and is treated as ${before.minor} (${ACCEPT_UNKNOWN_RELEASE})`;
    return { ok: true, minor, as: before.minor, notice };
  }
  const fix = `Use one of these releases, a newer sno-agents, or ${ACCEPT_UNKNOWN_RELEASE} on a host that you can lose: it is treated as ${before.minor}.`;
  return { ok: false, expected, found, fix };
}

/** OKD's versions name it: 4.21.0-okd-scos.3, and 4.15.0-0.okd-2024-03-10-010116 before. */
export const isOkd = (version: string): boolean => /[-.]okd-/.test(version);

export const productOf = (version: string | undefined): 'OKD' | 'OpenShift' =>
  version !== undefined && isOkd(version) ? 'OKD' : 'OpenShift';

const newestUntil = (known: readonly OpenShiftReleaseRow[], minor: Minor) =>
  known.findLast((row) => compareMinors(row.minor, minor) <= 0);

function rangeOf(known: readonly OpenShiftReleaseRow[]): string {
  const [first, last] = [known[0], known.at(-1)];
  return `${first?.minor} to ${last?.minor}`;
}
