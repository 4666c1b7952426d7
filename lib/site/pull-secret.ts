import { isRecord, parseJson } from '../json.ts';
import type { Problem } from './problem.ts';

const expected = 'JSON with auths that has a string auth, or credsStore, for each registry';
/** An example in the message would be redacted, like everything that looks like a secret. */
const COPY_PULL_SECRET =
  'Copy the pull secret as one line in single quotes; if no registry needs one, copy the one in docs/reference/install-config.md.';
const problem = (found: string): Problem => ({ expected, found, fix: COPY_PULL_SECRET });

/**
 * Why a text is not a pull secret: the JSON that container tools keep in
 * config.json. As in the installer (pkg/validate, ImagePullSecret), at least one
 * registry must be named; the registry judges the decoded `auth`.
 */
export function pullSecretProblem(text: string): Problem | undefined {
  const json = parseJson(text);
  if (json === undefined) return problem(`a string of ${text.length} characters that is not JSON`);
  const auths = isRecord(json) ? json.auths : undefined;
  if (!isRecord(auths)) return problem('JSON without a mapping auths');
  const entries = Object.entries(auths);
  if (entries.length === 0) return problem('empty auths');
  const bad = entries.findIndex(([, entry]) => !isUsable(entry));
  return bad < 0
    ? undefined
    : problem(`no usable auth for ${registryName(entries[bad]?.[0] ?? '')}`);
}

function isUsable(entry: unknown): boolean {
  if (!isRecord(entry)) return false;
  return typeof entry.auth === 'string' || entry.credsStore !== undefined;
}

/** A name that does not look like a registry's may be a misplaced password. */
function registryName(name: string): string {
  return /^[\w.:[\]/-]{1,100}$/.test(name) && /[.:]|^localhost/.test(name) ? name : 'a registry';
}
