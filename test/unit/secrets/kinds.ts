import { generateKeyPairSync, randomBytes } from 'node:crypto';

/** One secret of a kind, as it is written where it belongs. */
export interface Planted {
  /** What the field or variable is called that has it. */
  readonly field: string;
  readonly value: string;
  /** What must be nowhere: the value, or the secret parts of it. */
  readonly secrets: readonly string[];
}

export interface Kind {
  readonly name: string;
  /** It is told by its looks, also where no name says what it is. */
  readonly hasShape: boolean;
  make(): Planted;
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
const DIGITS = '0123456789';
const HEX = '0123456789abcdef';
const LOWER = LETTERS + DIGITS;
const ALL = LETTERS + LETTERS.toUpperCase() + DIGITS;
const CRYPT = `./${ALL}`;

/** At least one of each of three kinds of character, where the alphabet has them. */
function random(length: number, alphabet = ALL): string {
  const text = [...randomBytes(length)].map((byte) => alphabet[byte % alphabet.length]).join('');
  const isMixed = ['a-z', 'A-Z', '0-9']
    .filter((range) => new RegExp(`[${range}]`).test(alphabet))
    .every((range) => new RegExp(`[${range}]`).test(text));
  return isMixed || length < 8 ? text : random(length, alphabet);
}

const base64url = (text: string | Buffer) => Buffer.from(text).toString('base64url');
const base64 = (bytes: number) => randomBytes(bytes).toString('base64');

/** The lines of a key are each a part of the secret. */
function pem(field: string, text: string): Planted {
  const lines = text.split('\n').filter((line) => /^[A-Za-z0-9+/=]{16,}$/.test(line));
  return { field, value: text.trimEnd(), secrets: lines };
}

const whole = (field: string, value: string): Planted => ({ field, value, secrets: [value] });
const shaped = (name: string, make: () => Planted): Kind => ({ name, hasShape: true, make });
const named = (name: string, make: () => Planted): Kind => ({ name, hasShape: false, make });

function armored(label: string, body: Buffer, width: number): string {
  const lines = body.toString('base64').match(new RegExp(`.{1,${width}}`, 'g')) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n');
}

const rsa = (type: 'pkcs1' | 'pkcs8') =>
  generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey.export({ type, format: 'pem' });
const ec = (type: 'sec1' | 'pkcs8') =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type, format: 'pem' });
const ed25519 = () => generateKeyPairSync('ed25519').privateKey;
const encrypted = () =>
  ed25519().export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' });

function jwt(): string {
  const header = base64url(JSON.stringify({ alg: 'RS256', kid: random(20) }));
  const claims = base64url(JSON.stringify({ iss: 'kubernetes/serviceaccount', sub: random(12) }));
  return `${header}.${claims}.${base64url(randomBytes(128))}`;
}

function jwe(): string {
  const header = base64url('{"alg":"dir","enc":"A256GCM"}');
  return `${header}..${random(16)}.${random(64)}.${random(22)}`;
}

function kubeconfigKey(): Planted {
  const text = String(ec('pkcs8'));
  const encoded = Buffer.from(text).toString('base64');
  return { field: 'client-key-data', value: encoded, secrets: [encoded, ...pem('', text).secrets] };
}

function pullSecret(): Planted {
  const password = random(24);
  const auth = Buffer.from(`user:${password}`).toString('base64');
  const value = JSON.stringify({ auths: { 'quay.io': { auth, email: 'a@example.com' } } });
  return { field: 'pullSecret', value, secrets: [auth, password] };
}

function registryAuth(): Planted {
  const password = random(20);
  const auth = Buffer.from(`robot:${password}`).toString('base64');
  return { field: 'auth', value: auth, secrets: [auth, password] };
}

function inUrl(scheme: string, field: string): Planted {
  const password = random(14);
  return {
    field,
    value: `${scheme}://user:${password}@host.example.com/path`,
    secrets: [password],
  };
}

function jwk(): Planted {
  const { d = '' } = ed25519().export({ format: 'jwk' });
  const value = JSON.stringify({ kty: 'OKP', crv: 'Ed25519', x: random(43), d });
  return { field: 'jwk', value, secrets: [d] };
}

function ignition(): Planted {
  const password = random(16);
  const source = `data:;base64,${Buffer.from(`admin ${password}\n`).toString('base64')}`;
  return { field: 'source', value: source, secrets: [password] };
}

function percentIgnition(): Planted {
  const text = `${random(12)} ${random(12)}`;
  const source = `data:,${encodeURIComponent(text)}`;
  return { field: 'source', value: source, secrets: [text, encodeURIComponent(text)] };
}

function uuid(): string {
  return [8, 4, 4, 4, 12].map((length) => random(length, HEX)).join('-');
}

export const KINDS: readonly Kind[] = [
  named('a password', () => whole('password', random(14))),
  named('a password in lower case', () => whole('adminPassword', random(12, LETTERS))),
  named('a password of digits', () => whole('rootPassword', random(10, DIGITS))),
  named('a passphrase', () => whole('passphrase', random(18))),
  named("a client's secret", () => whole('clientSecret', random(32))),
  named('an API key', () => whole('apiKey', random(32, HEX))),
  named('a refresh token', () => whole('refresh_token', random(40))),
  named('a token that is a UUID', () => whole('access-token', uuid())),
  named('a token in hex', () => whole('token', random(40, HEX))),
  named('a wireless key', () => whole('psk', random(12, LOWER))),
  named('a WEP key', () => whole('wep-key0', random(26, HEX))),
  named("an 802.1X user's key's password", () => whole('private-key-password', random(12))),
  named("a WireGuard interface's key", () => whole('private-key', base64(32))),
  named('a MACsec key', () => whole('mka-cak', random(32, HEX))),
  named('the key of an encryption configuration', () => whole('secret', base64(32))),
  named('the secret key of AWS', () => whole('aws_secret_access_key', base64(30))),
  named('the session token of AWS', () => whole('aws_session_token', base64(120))),
  named('the key of an Azure account', () => whole('AccountKey', base64(64))),
  named('a registry login', registryAuth),
  named('an identity token', () => whole('identitytoken', random(60))),
  named('the password of a volume', () => whole('node.session.auth.password', random(16))),
  named('a signed URL', () => whole('X-Amz-Signature', random(64, HEX))),
  named('a bootstrap token', () =>
    whole('bootstrap-token', `${random(6, LOWER)}.${random(15, LOWER)}7`),
  ),
  shaped("a service account's token", () => whole('token', jwt())),
  shaped('an encrypted web token', () => whole('token', jwe())),
  shaped('an OAuth token of OpenShift', () => whole('token', `sha256~${random(43)}`)),
  shaped('an RSA key', () => pem('key', String(rsa('pkcs1')))),
  shaped('an RSA key in PKCS #8', () => pem('tls.key', String(rsa('pkcs8')))),
  shaped('an elliptic key', () => pem('key', String(ec('sec1')))),
  shaped('an elliptic key in PKCS #8', () => pem('tls.key', String(ec('pkcs8')))),
  shaped('an Ed25519 key', () =>
    pem('key', String(ed25519().export({ type: 'pkcs8', format: 'pem' }))),
  ),
  shaped('an encrypted key', () => pem('key', String(encrypted()))),
  shaped('an OpenSSH key', () =>
    pem(
      'ssh-privatekey',
      armored(
        'OPENSSH PRIVATE KEY',
        Buffer.concat([Buffer.from('openssh-key-v1\0'), randomBytes(300)]),
        70,
      ),
    ),
  ),
  shaped('a PGP key', () => pem('key', armored('PGP PRIVATE KEY BLOCK', randomBytes(400), 64))),
  shaped("a kubeconfig's key", kubeconfigKey),
  shaped('a pull secret', pullSecret),
  shaped('the hash of a password', () =>
    whole('passwordHash', `$6$${random(16, CRYPT)}$${random(86, CRYPT)}`),
  ),
  shaped('a yescrypt hash', () =>
    whole('passwordHash', `$y$j9T$${random(22, CRYPT)}$${random(43, CRYPT)}`),
  ),
  shaped('a bcrypt hash', () => whole('htpasswd', `$2y$05$${random(53, CRYPT)}`)),
  shaped('an access key of AWS', () => whole('id', `AKIA${random(16, ALL.slice(26))}`)),
  shaped('a GitHub token', () => whole('github', `ghp_${random(36)}`)),
  shaped('a fine-grained GitHub token', () => whole('github', `github_pat_${random(60)}`)),
  shaped('a GitLab token', () => whole('gitlab', `glpat-${random(20)}`)),
  shaped('a Slack token', () => whole('slack', `xoxb-${random(12, DIGITS)}-${random(24)}`)),
  shaped('a Slack hook', () => {
    const path = `T${random(8)}/B${random(8)}/${random(24)}`;
    return { field: 'hook', value: `https://hooks.slack.com/services/${path}`, secrets: [path] };
  }),
  shaped('an npm token', () => whole('npm', `npm_${random(36)}`)),
  shaped('a Docker token', () => whole('docker', `dckr_pat_${random(27)}`)),
  shaped('a Vault token', () => whole('vault', `hvs.${random(24)}`)),
  shaped('a Google API key', () => whole('google', `AIza${random(35)}`)),
  shaped('a Google token', () => whole('google', `ya29.${random(60)}`)),
  shaped('a Stripe key', () => whole('stripe', `sk_live_${random(24)}`)),
  shaped('an age key', () => whole('age', `AGE-SECRET-KEY-1${random(58, ALL.slice(26))}`)),
  shaped('a K3s token', () => {
    const password = random(32, HEX);
    return {
      field: 'join',
      value: `K10${random(64, HEX)}::server:${password}`,
      secrets: [password],
    };
  }),
  shaped('an Azure signature', () => {
    const sig = encodeURIComponent(base64(32));
    return {
      field: 'blob',
      value: `https://a.blob.core.windows.net/c?sv=1&sig=${sig}`,
      secrets: [sig],
    };
  }),
  shaped('a password in a URL', () => inUrl('https', 'endpoint')),
  shaped("a proxy's password", () => inUrl('http', 'HTTPS_PROXY')),
  shaped("a database's password", () => inUrl('postgres', 'DATABASE_URL')),
  shaped('a bearer token', () => {
    const token = random(32);
    return { field: 'header', value: `Authorization: Bearer ${token}`, secrets: [token] };
  }),
  shaped('basic credentials', () => {
    const password = random(12);
    const credentials = Buffer.from(`admin:${password}`).toString('base64');
    return {
      field: 'header',
      value: `Authorization: Basic ${credentials}`,
      secrets: [password, credentials],
    };
  }),
  shaped('a JSON web key', jwk),
  shaped('a file of an Ignition config', ignition),
  shaped('a percent-encoded file of an Ignition config', percentIgnition),
  named('a random word without a name', () => whole('x', random(20))),
  named('a random number in hex without a name', () => whole('x', random(48, HEX))),
];

/** Its name says nothing: it can only be found as a secret of the host. */
export const isNameless = ({ field }: Planted): boolean => field === 'x';
