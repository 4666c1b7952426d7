/** What is wrong with a secret, without a character of it. */
export interface SecretProblem {
  expected: string;
  found: string;
  fix: string;
}

const COPY_PULL_SECRET =
  'Copy the pull secret as one line in single quotes, or use \'{"auths":{}}\' where no registry needs one.';

/** The pull secret is the JSON that container tools keep in config.json. */
export function pullSecretProblem(text: string): SecretProblem | undefined {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return problem(`a text of ${text.length} characters that is not JSON`);
  }
  const auths = property(json, 'auths');
  if (typeof auths !== 'object' || auths === null || Array.isArray(auths)) {
    return problem('JSON without an object auths');
  }
  for (const [registry, entry] of Object.entries(auths)) {
    if (property(entry, 'credsStore') !== undefined) continue;
    const auth = property(entry, 'auth');
    if (typeof auth !== 'string' || !isUserAndPassword(auth)) {
      return problem(`no usable auth for ${registry}`);
    }
  }
  return undefined;
}

function problem(found: string): SecretProblem {
  const expected =
    'JSON with an object auths, and base64 of user:password as auth for each registry';
  return { expected, found, fix: COPY_PULL_SECRET };
}

function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

function isUserAndPassword(auth: string): boolean {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(auth)) return false;
  return Buffer.from(auth, 'base64').includes(':');
}

const KEY_TYPE =
  /^(ssh-(rsa|ed25519)|ecdsa-sha2-nistp(256|384|521)|sk-(ssh-ed25519|ecdsa-sha2-nistp256)@openssh\.com)$/;

/** Public keys as in authorized_keys, one on each line; empty lines and comments are allowed. */
export function sshKeyProblem(text: string): SecretProblem | undefined {
  const expected = 'OpenSSH public keys, one on each line';
  if (text.includes('PRIVATE KEY')) {
    const fix =
      'Give the public key, from the file that ends in .pub, and keep the private one to yourself.';
    return { expected, found: 'a private key', fix };
  }
  const fix = 'Copy the whole line of the .pub file, such as ssh-ed25519 AAAA... name.';
  const keys = sshKeys(text);
  if (keys.length === 0) return { expected, found: 'an empty text', fix };
  const bad = keys.findIndex((key) => !isPublicKey(key));
  if (bad < 0) return undefined;
  return { expected, found: `something else as key ${bad + 1} of ${keys.length}`, fix };
}

/** The keys of an sshKey field. */
export function sshKeys(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}

/** The key's own first field repeats its type: a cut or mistyped key does not. */
function isPublicKey(line: string): boolean {
  const [type = '', body = ''] = line.split(/\s+/);
  if (!KEY_TYPE.test(type) || !/^[A-Za-z0-9+/]+={0,2}$/.test(body)) return false;
  const bytes = Buffer.from(body, 'base64');
  if (bytes.length < 4 + type.length + 4) return false;
  const length = bytes.readUInt32BE(0);
  return bytes.subarray(4, 4 + length).toString('latin1') === type;
}
