import { armored, ec, ed25519, encrypted, rsa } from './private-keys.ts';
import { ALPHANUMERIC, LOWER, type SeededRandom } from './random.ts';

/** One secret of a kind, in its usual notation. */
export interface Planted {
  /** The name of the field or variable that contains it. */
  readonly field: string;
  readonly value: string;
  /** What must not appear anywhere: the value, or its secret parts. */
  readonly secrets: readonly string[];
}

export interface Kind {
  readonly name: string;
  /** Recognizable by its form, without a telling name. */
  readonly hasShape: boolean;
  make(random: SeededRandom): Planted;
}

const LETTERS = LOWER.slice(0, 26);
const DIGITS = '0123456789';
const HEX = '0123456789abcdef';
const CRYPT = `./${ALPHANUMERIC}`;

const base64url = (text: string | Buffer) => Buffer.from(text).toString('base64url');
const base64 = (random: SeededRandom, bytes: number) => random.bytes(bytes).toString('base64');

/** Each line of a key is part of the secret. */
function pem(field: string, text: string): Planted {
  const lines = text.split('\n').filter((line) => /^[A-Za-z0-9+/=]{16,}$/.test(line));
  return { field, value: text.trimEnd(), secrets: lines };
}

const whole = (field: string, value: string): Planted => ({ field, value, secrets: [value] });
const shaped = (name: string, make: Kind['make']): Kind => ({ name, hasShape: true, make });
const named = (name: string, make: Kind['make']): Kind => ({ name, hasShape: false, make });

function jwt(random: SeededRandom): string {
  const header = base64url(JSON.stringify({ alg: 'RS256', kid: random.text(20) }));
  const claims = base64url(
    JSON.stringify({ iss: 'kubernetes/serviceaccount', sub: random.text(12) }),
  );
  return `${header}.${claims}.${base64url(random.bytes(128))}`;
}

function jwe(random: SeededRandom): string {
  const header = base64url('{"alg":"dir","enc":"A256GCM"}');
  return `${header}..${random.text(16)}.${random.text(64)}.${random.text(22)}`;
}

function kubeconfigKey(random: SeededRandom): Planted {
  const text = ec(random, 'pkcs8');
  const encoded = Buffer.from(text).toString('base64');
  return { field: 'client-key-data', value: encoded, secrets: [encoded, ...pem('', text).secrets] };
}

function pullSecret(random: SeededRandom): Planted {
  const password = random.text(24);
  const auth = Buffer.from(`user:${password}`).toString('base64');
  const value = JSON.stringify({ auths: { 'quay.io': { auth, email: 'a@example.com' } } });
  return { field: 'pullSecret', value, secrets: [auth, password] };
}

function registryAuth(random: SeededRandom): Planted {
  const password = random.text(20);
  const auth = Buffer.from(`robot:${password}`).toString('base64');
  return { field: 'auth', value: auth, secrets: [auth, password] };
}

function inUrl(random: SeededRandom, scheme: string, field: string): Planted {
  const password = random.text(14);
  return {
    field,
    value: `${scheme}://user:${password}@host.example.com/path`,
    secrets: [password],
  };
}

function jwk(random: SeededRandom): Planted {
  const d = base64url(random.bytes(32));
  const value = JSON.stringify({ kty: 'OKP', crv: 'Ed25519', x: random.text(43), d });
  return { field: 'jwk', value, secrets: [d] };
}

function ignition(random: SeededRandom): Planted {
  const password = random.text(16);
  const source = `data:;base64,${Buffer.from(`admin ${password}\n`).toString('base64')}`;
  return { field: 'source', value: source, secrets: [password] };
}

function percentIgnition(random: SeededRandom): Planted {
  const text = `${random.text(12)} ${random.text(12)}`;
  const source = `data:,${encodeURIComponent(text)}`;
  return { field: 'source', value: source, secrets: [text, encodeURIComponent(text)] };
}

function uuid(random: SeededRandom): string {
  return [8, 4, 4, 4, 12].map((length) => random.text(length, HEX)).join('-');
}

export const KINDS: readonly Kind[] = [
  named('a password', (random) => whole('password', random.text(14))),
  named('a password in lower case', (random) => whole('adminPassword', random.text(12, LETTERS))),
  named('a password of digits', (random) => whole('rootPassword', random.text(10, DIGITS))),
  named('a passphrase', (random) => whole('passphrase', random.text(18))),
  named("a client's secret", (random) => whole('clientSecret', random.text(32))),
  named('an API key', (random) => whole('apiKey', random.text(32, HEX))),
  named('a refresh token', (random) => whole('refresh_token', random.text(40))),
  named('a token that is a UUID', (random) => whole('access-token', uuid(random))),
  named('a token in hex', (random) => whole('token', random.text(40, HEX))),
  named('a passphrase of words', (random) =>
    whole('passphrase', [5, 5, 7, 6].map((length) => random.text(length, LETTERS)).join(' ')),
  ),
  named('a password with punctuation', (random) =>
    whole('db_password', `${random.text(5)};${random.text(6)}&${random.text(6)}`),
  ),
  named('a key of kubeadm', (random) => whole('certificate-key', random.text(64, HEX))),
  named('a wireless key', (random) => whole('psk', random.text(12, LOWER))),
  named('a WEP key', (random) => whole('wep-key0', random.text(26, HEX))),
  named("an 802.1X user's key's password", (random) =>
    whole('private-key-password', random.text(12)),
  ),
  named("a WireGuard interface's key", (random) => whole('private-key', base64(random, 32))),
  named('a MACsec key', (random) => whole('mka-cak', random.text(32, HEX))),
  named('the key of an encryption configuration', (random) => whole('secret', base64(random, 32))),
  named('the secret key of AWS', (random) => whole('aws_secret_access_key', base64(random, 30))),
  named('the session token of AWS', (random) => whole('aws_session_token', base64(random, 120))),
  named('the key of an Azure account', (random) => whole('AccountKey', base64(random, 64))),
  named('a registry login', registryAuth),
  named('an identity token', (random) => whole('identitytoken', random.text(60))),
  named('the password of a volume', (random) =>
    whole('node.session.auth.password', random.text(16)),
  ),
  named('a signed URL', (random) => whole('X-Amz-Signature', random.text(64, HEX))),
  named('a bootstrap token', (random) =>
    whole('bootstrap-token', `${random.text(6, LOWER)}.${random.text(15, LOWER)}7`),
  ),
  shaped("a service account's token", (random) => whole('token', jwt(random))),
  shaped('an encrypted web token', (random) => whole('token', jwe(random))),
  shaped('an OAuth token of OpenShift', (random) => whole('token', `sha256~${random.text(43)}`)),
  shaped('an RSA key', (random) => pem('key', rsa(random, 'pkcs1'))),
  shaped('an RSA key in PKCS #8', (random) => pem('tls.key', rsa(random, 'pkcs8'))),
  shaped('an elliptic key', (random) => pem('key', ec(random, 'sec1'))),
  shaped('an elliptic key in PKCS #8', (random) => pem('tls.key', ec(random, 'pkcs8'))),
  shaped('an Ed25519 key', (random) => pem('key', ed25519(random))),
  shaped('an encrypted key', (random) => pem('key', encrypted(random))),
  shaped('an OpenSSH key', (random) =>
    pem(
      'ssh-privatekey',
      armored(
        'OPENSSH PRIVATE KEY',
        Buffer.concat([Buffer.from('openssh-key-v1\0'), random.bytes(300)]),
        70,
      ),
    ),
  ),
  shaped('a PGP key', (random) =>
    pem('key', armored('PGP PRIVATE KEY BLOCK', random.bytes(400), 64)),
  ),
  shaped("a kubeconfig's key", kubeconfigKey),
  shaped('a pull secret', pullSecret),
  shaped('the hash of a password', (random) =>
    whole('passwordHash', `$6$${random.text(16, CRYPT)}$${random.text(86, CRYPT)}`),
  ),
  shaped('a yescrypt hash', (random) =>
    whole('passwordHash', `$y$j9T$${random.text(22, CRYPT)}$${random.text(43, CRYPT)}`),
  ),
  shaped('a bcrypt hash', (random) => whole('htpasswd', `$2y$05$${random.text(53, CRYPT)}`)),
  shaped('an access key of AWS', (random) =>
    whole('id', `AKIA${random.text(16, ALPHANUMERIC.slice(26))}`),
  ),
  shaped('a GitHub token', (random) => whole('github', `ghp_${random.text(36)}`)),
  shaped('a fine-grained GitHub token', (random) =>
    whole('github', `github_pat_${random.text(60)}`),
  ),
  shaped('a GitLab token', (random) => whole('gitlab', `glpat-${random.text(20)}`)),
  shaped('a Slack token', (random) =>
    whole('slack', `xoxb-${random.text(12, DIGITS)}-${random.text(24)}`),
  ),
  shaped('a Slack hook', (random) => {
    const path = `T${random.text(8)}/B${random.text(8)}/${random.text(24)}`;
    return { field: 'hook', value: `https://hooks.slack.com/services/${path}`, secrets: [path] };
  }),
  shaped('an npm token', (random) => whole('npm', `npm_${random.text(36)}`)),
  shaped('a Docker token', (random) => whole('docker', `dckr_pat_${random.text(27)}`)),
  shaped('a Vault token', (random) => whole('vault', `hvs.${random.text(24)}`)),
  shaped('a Google API key', (random) => whole('google', `AIza${random.text(35)}`)),
  shaped('a Google token', (random) => whole('google', `ya29.${random.text(60)}`)),
  shaped('a Stripe key', (random) => whole('stripe', `sk_live_${random.text(24)}`)),
  shaped('an age key', (random) =>
    whole('age', `AGE-SECRET-KEY-1${random.text(58, ALPHANUMERIC.slice(26))}`),
  ),
  shaped('a K3s token', (random) => {
    const password = random.text(32, HEX);
    return {
      field: 'join',
      value: `K10${random.text(64, HEX)}::server:${password}`,
      secrets: [password],
    };
  }),
  shaped('an Azure signature', (random) => {
    const sig = encodeURIComponent(base64(random, 32));
    return {
      field: 'blob',
      value: `https://a.blob.core.windows.net/c?sv=1&sig=${sig}`,
      secrets: [sig],
    };
  }),
  shaped('a password in a URL', (random) => inUrl(random, 'https', 'endpoint')),
  shaped("a proxy's password", (random) => inUrl(random, 'http', 'HTTPS_PROXY')),
  shaped("a database's password", (random) => inUrl(random, 'postgres', 'DATABASE_URL')),
  shaped('a bearer token', (random) => {
    const token = random.text(32);
    return { field: 'header', value: `Authorization: Bearer ${token}`, secrets: [token] };
  }),
  shaped('basic credentials', (random) => {
    const password = random.text(12);
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
  named('a random word without a name', (random) => whole('x', random.text(20))),
  named('a random number in hex without a name', (random) => whole('x', random.text(48, HEX))),
];

/** Its name says nothing: it can only be found as a secret of the host. */
export const isNameless = ({ field }: Planted): boolean => field === 'x';
