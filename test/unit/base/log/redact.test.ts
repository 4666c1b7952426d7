import t from 'tap';
import { LOG_PATTERNS, redact } from '../../../../lib/base/log/redact.ts';

const SECRET = 'c0rrectHorseBatteryStaple';
const encode = (text: string) => Buffer.from(text).toString('base64');
const pem = (kind: string) =>
  `-----BEGIN ${kind}PRIVATE KEY-----\n${SECRET}\n-----END ${kind}PRIVATE KEY-----`;

/** Texts whose secret is found by only one pattern, and only by one of its words. */
const TEXTS: readonly string[] = [
  ...['', 'EC ', 'RSA ', 'OPENSSH ', 'ENCRYPTED '].flatMap((kind) => [
    `key ${pem(kind)} end`,
    `key ${encode(pem(kind))} end`,
  ]),
  `key ${pem('').slice(0, -30)}`,
  ...['SECRET-KEY-1', 'SECRET-KEY-PQ-1', 'PLUGIN-X-1'].map((kind) => `AGE-${kind}${SECRET}`),
  `https://user:${SECRET}@host`,
  `https://${SECRET}@host`,
  ...[
    'sig',
    'signature',
    'X-Amz-Signature',
    'X-Goog-Signature',
    'X-Amz-Security-Token',
    'api_key',
  ].map((name) => `GET https://host/x?a=b&${name}=${SECRET} failed`),
  `Cookie: a=${SECRET}`,
  `core:$6$abc$${SECRET}:19000`,
  `Authorization: Negotiate ${SECRET}`,
  ...['Bearer', 'Basic', 'Token'].flatMap((scheme) => [
    `Authorization: ${scheme} c0rrect`,
    `"authorization":["${scheme} c0rrect"]`,
  ]),
  `sent Bearer ${SECRET}`,
  `got eyJhbGciOiJSUzI1NiJ9.${SECRET}.${SECRET}`,
  `got sha256~${SECRET}`,
  `got ghp_${SECRET}`,
  ...[
    ...['auth', 'password', 'passwd', 'passphrase', 'token', 'client-key-data', 'psk'],
    ...['secret', 'pullSecret', 'secretKey', 'secret_key', 'apiKey', 'accessToken', 'DB_PASSWORD'],
  ].flatMap((name) => [
    `{"${name}":"${SECRET} and more"}`,
    `{\\"${name}\\":\\"${SECRET} and more\\"}`,
    `{"x-${name}" : "${SECRET}`,
  ]),
  `app --db-password ${SECRET} end`,
  ...[
    ...['password', 'passwd', 'passphrase', 'token', 'bootstrap-token', 'client-key-data', 'psk'],
    ...['DB_PASSWORD', 'AWS_SECRET_ACCESS_KEY', 'S3_SECRET_KEY', 'access_token', 'wifi.psk'],
  ].flatMap((name) => [`${name}=${SECRET} end`, `${name}: ${SECRET} end`]),
  `auth=${SECRET}== end`,
  `Cookie: lang=de; session=${SECRET}`,
  `"Cookie":["session=${SECRET}"]`,
  `KEYCLOAK_DATABASE_ADMIN_PASSWORD=${SECRET}`,
  `{"openshiftImageRegistryPassword":"${SECRET}"}`,
  `aws_secret_access_key = ${SECRET}`,
  `client_secret=${SECRET}`,
  `--password "a ${SECRET}"`,
  `password: 'a ${SECRET}'`,
  `psk=a ${SECRET}`,
  `password:\n  ${SECRET}`,
  `password=--${SECRET}`,
  `cluster-token: ${SECRET}`,
  `/srv/passwd=${SECRET}`,
  `PrivateKey = ${SECRET}${'A'.repeat(18)}=`,
  ...['$argon2id$v=19$', '$apr1$abc$'].map((hash) => `core:${hash}${SECRET}`),
  ...['glpat-', 'github_pat_'].map((kind) => `got ${kind}${SECRET}`),
  `secret=${SECRET}${'A'.repeat(18)}= end`,
  `secret: ${SECRET}${'A'.repeat(18)}= end`,
];

const isHidden = (text: string, patterns = LOG_PATTERNS) => {
  const safe = redact(text, patterns);
  return !/c0rrect/.test(safe) && !safe.includes(encode(SECRET).slice(2, 20)) && safe !== text;
};

t.test('each form of a secret is redacted', async (t) => {
  for (const text of TEXTS) t.ok(isHidden(text), redact(text));
});

t.test('what is no secret stays', async (t) => {
  for (const text of [
    'the token of the node is of no use',
    'a password is needed',
    'https://quay.io/a/b:4.19@sha256:0a1b2c3d',
    'https://host/x?signed=no&design=a',
    'AGE-SECRET-KEY-1',
    'Failed to open /etc/passwd: Read-only file system',
    'sh: line 1: passwd: command not found',
    'Enter passphrase:\nerror: Device /dev/vda4 is busy',
    '802-11-wireless-security.psk: property is invalid',
    'etcdutl snapshot restore --initial-cluster-token 0123',
    'kubeadm token create --print-token --kubeconfig=/x',
    'docker://localhost-registry@sha256:aaaa',
    'cookie: 0x0, duration=1s',
    'token: unknown field "b"',
    'core@sno-0 waits for https://short@host',
  ])
    t.equal(redact(text), text);
});

t.test('without any one pattern a secret survives', async (t) => {
  for (const pattern of LOG_PATTERNS) {
    const others = LOG_PATTERNS.filter((each) => each !== pattern);
    t.notOk(
      TEXTS.every((text) => isHidden(text, others)),
      pattern[0].source,
    );
  }
});
