import type { Problem } from '../../base/errors/problem.ts';
import { isRecord, parseJson } from '../../base/json.ts';
import { brokenAt, namedTwice, tooManyLevels } from '../../base/json-fault.ts';
import { isPathLike } from '../../base/path-like.ts';

const expected =
  'JSON with auths that has an auth, base64 of user:password, or credsStore for each registry';
/** An example in the message would be redacted, like everything that looks like a secret. */
const COPY_PULL_SECRET =
  'Copy the pull secret as one line in single quotes; if no registry needs one, copy the one in docs/reference/install-config.md.';
const problem = (found: string): Problem => ({ expected, found, fix: COPY_PULL_SECRET });

/**
 * Why a text is not a pull secret: the JSON that container tools keep in
 * config.json. As in the installer (pkg/validate, ImagePullSecret), at least one
 * registry must be named; the registry judges the user and the password in the decoded `auth`.
 */
export function pullSecretProblem(text: string): Problem | undefined {
  if (/\$\{|\{\{/.test(text)) {
    return { expected, found: 'a placeholder of a template', fix: 'Fill in the secret itself.' };
  }
  const json = parseJson(text);
  if (json === undefined) {
    if (isPathLike(text)) return problem('the path of a file');
    if (isRecord(parseJson(Buffer.from(text, 'base64').toString('utf8')))) {
      const fix = 'Decode it with base64 -d, and write it as one line in single quotes.';
      return { expected, found: 'base64 of JSON', fix };
    }
    // A secret is one long line.
    return problem(`a string of ${text.length} characters that is not JSON: ${brokenAt(text)}`);
  }
  const levels = tooManyLevels(json);
  if (levels !== undefined) return problem(levels);
  const auths = isRecord(json) ? json.auths : undefined;
  if (!isRecord(auths)) return problem('JSON without a mapping auths');
  const entries = Object.entries(auths);
  if (entries.length === 0) return problem('empty auths');
  const twice = namedTwice(text);
  if (twice !== undefined) {
    return { expected, found: twice, fix: 'Remove one of the two.' };
  }
  const unnamed = entries.findIndex(([name]) => !isRegistry(name));
  if (unnamed >= 0) {
    return problem(`a name that no registry has, number ${unnamed + 1} of ${entries.length}`);
  }
  const bad = entries.find(([, entry]) => !isUsable(entry));
  if (bad !== undefined) return problem(`no usable auth for ${registryName(bad[0])}`);
  // OKD's well-known secret for nobody, {"fake": "id:pass\n"}, names no host.
  const control = entries.find(([name, entry]) => isHost(name) && hasControl(entry));
  if (control === undefined) return undefined;
  return {
    expected,
    found: `a line break or another control character in the decoded auth for ${registryName(control[0])}`,
    fix: "Encode the login without it: printf '%s' user:password | base64 -w0.",
  };
}

/** No login has one (RFC 7617, 2), and no client takes it off but the zero byte: it is part of the password then. */
const hasControl = (entry: unknown): boolean =>
  isRecord(entry) &&
  typeof entry.auth === 'string' &&
  /(?!\0)\p{Cc}/u.test(Buffer.from(entry.auth, 'base64').toString('utf8'));

/**
 * A registry or what is below it; also as an URL, which Docker writes for its own, and with the patterns of the kubelet
 * (containers-auth.json(5); kubernetes.io, "Interpretation of config.json").
 */
function isRegistry(name: string): boolean {
  const [, port] =
    /^(?:https?:\/\/)?(?:[\w.*?-]+|\[[0-9A-Fa-f:.]+\])(?::(\d{1,5}))?(?:\/[\w.*?~/-]*)?$/.exec(
      name,
    ) ?? ['', '0'];
  return port === undefined || (Number(port) > 0 && Number(port) <= 65_535);
}

function isUsable(entry: unknown): boolean {
  if (!isRecord(entry)) return false;
  if (typeof entry.auth !== 'string') return entry.credsStore !== undefined;
  const { identitytoken: token } = entry;
  return isCredential(entry.auth, typeof token === 'string' && token !== '');
}

/** Base64 of `user:password`, as every client decodes it (docker/cli, containers/image); empty: without a login. A token stands for a password. */
function isCredential(auth: string, hasToken: boolean): boolean {
  if (auth === '') return true;
  const bytes = Buffer.from(auth, 'base64');
  const login = bytes.toString('latin1');
  return bytes.toString('base64') === auth && (hasToken ? /^[^:]+:/ : /^[^:]+:./s).test(login);
}

/** As in a reference to an image. */
const isHost = (name: string): boolean => /[.:]|^localhost/.test(name);

/** A name that does not look like a registry's may be a misplaced password. */
function registryName(name: string): string {
  return /^[\w.:[\]/-]{1,100}$/.test(name) && isHost(name) ? name : 'a registry';
}
