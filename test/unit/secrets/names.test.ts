import t from 'tap';
import { isSecretValue, sensitivityOf } from '../../../lib/secrets/redact/names.ts';
import { looksRandom } from '../../../lib/secrets/redact/values.ts';

/** Names used by programs whose values are always secrets. */
const SECRET_NAMES = [
  'adminPassword',
  'db_passwd',
  'key-passphrase',
  'passwordHash',
  'DB_PWD',
  'clientSecret',
  'MINIO_SECRET_KEY',
  'aws_secret_access_key',
  'shared-key',
  'AccountKey',
  'ssh-privatekey',
  'client-key-data',
  'accessToken',
  'refresh_token',
  'id_token',
  'identitytoken',
  'registrytoken',
  'aws_session_token',
  'authToken',
  'bearer_token',
  'X-Amz-Security-Token',
  'bootstrap-token',
  'token-secret',
  'apiToken',
  'vaultToken',
  'privateToken',
  'X-Api-Key',
  'encryption_key',
  'encryptionKeySecret',
  'wpa-psk',
  'wep-key0',
  'wep-key1',
  'wep-key2',
  'wep-key3',
  'mka-cak',
  '.dockerconfigjson',
  '.dockercfg',
  'DOCKER_AUTH_CONFIG',
  'pullSecret',
  'X-Amz-Signature',
  'X-Goog-Signature',
  'requirepass',
  'masterauth',
  'bindpw',
  'rootpw',
  'ldap_default_authtok',
  'node.session.auth.password_in',
  'secret_key_base',
  'passcode',
  'bind_pw',
  '-storepass',
  'SSHPASS',
  'token_reviewer_jwt',
  '--authkey',
  '--activationkey',
  'code_verifier',
  '-srcstorepass',
  '-destkeypass',
  'Passwort',
  'benutzerKennwort',
  'mot_de_passe',
  'contrasena',
  'SENHA',
  'wachtwoord',
  // By their form.
  'VAULT_TOKEN',
  'APP_SECRET',
  'APP_CREDENTIAL',
  'APP_CREDENTIALS',
  '--join-token',
  'db_pass',
  'db-pass',
  'dbPass',
  'smtp.pass',
];

/** Names whose values are secrets only if they look random. */
const DOUBTFUL_NAMES = [
  'token',
  'imageSecret',
  'proxyAuth',
  'credential',
  'credentials',
  'Authorization',
  'Set-Cookie',
  'pass',
  'key1',
  'key2',
  '--certificate-key',
  'userKey',
  'adminKey',
  'APP_KEY',
  'routing_key',
  'serviceKey',
  'integration-key',
  'jwtKey',
  'signing_key',
];

const ORDINARY_NAMES = [
  'NOPASSWD',
  'initial-cluster-token',
  'continueToken',
  'nextPageToken',
  'pageToken',
  'passwordFile',
  'tokenPath',
  'key',
  'name',
];

t.test('names of secrets', async (t) => {
  for (const name of SECRET_NAMES) {
    t.equal(sensitivityOf(name), 'always', name);
    t.ok(isSecretValue(name, 'ordinary'), `${name} with a word`);
  }
  for (const name of DOUBTFUL_NAMES) {
    t.equal(sensitivityOf(name), 'by-value', name);
    t.notOk(isSecretValue(name, 'ordinary'), `${name} with a word`);
    t.ok(isSecretValue(name, 'Zq8mK2vW4tYxR6nB'), `${name} with a random value`);
  }
  for (const name of ORDINARY_NAMES) {
    t.equal(sensitivityOf(name), 'never', name);
    t.notOk(isSecretValue(name, 'Zq8mK2vW4tYxR6nB'), name);
  }
});

t.test('random values', async (t) => {
  const random = [
    '6b6bdc57-35d7-4a39-8c8f-6ac5a6cf0f6a',
    '2079bbe51a9c5479ea191398a3d91c20',
    'abcdef.0123456789abcdef',
    Buffer.from('user:word').toString('base64'),
    'Abcdefghijk1',
    'a1B2c3D4e5',
    'x7k2q9m4z8w1p5',
    'ABCDEFGH12345678+Zzz',
    '6B6BDC57-35D7-4A39-8C8F-6AC5A6CF0F6A',
    'abcdefabcdefabcdefabcdefabcdefab',
    'a1b2cdefgh',
    'A1B2CDEFGH',
    'abcdefgh1234567+abcd',
    `${'x'.repeat(510)}A1`,
  ];
  for (const value of random) t.ok(looksRandom(value), value);
  const ordinary = [
    'metrics-tls',
    'kubernetes.io/service-account-token',
    'https://example.com/A1b2C3d4E5f6',
    'RBAC,Node',
    'two words A1b2C3d4E5f6',
    'app-5d7f6c9b8-x2x7q',
    'abc1234',
    'abcdefabcdefabcdefabcdefabcdefa',
    'Abcdefghij1',
    'ABCDEFGhijk',
    'a1b2cdefg',
    'a1bcdefgh2',
    'abcdefgh1234567+abc',
    'abcdefgh1234567-abcd',
    'abcde.0123456789abcdef',
    Buffer.from(':word!').toString('base64'),
    Buffer.from('two words:word').toString('base64').slice(0, 8),
    `${'x'.repeat(512)}A1`,
  ];
  for (const value of ordinary) t.notOk(looksRandom(value), value);
});

t.test('values that are not secrets under any name', async (t) => {
  const nothing = [
    '***********',
    '- - -',
    'REDACTED',
    '',
    'true',
    'none',
    'NULL',
    '***',
    '|-',
    '<redacted:1a2b3c4d>',
  ];
  const paths = ['/etc/pki/key.pem', 'file:///run/secrets/db', '/var/lib/x/token', '/a/b.yaml'];
  for (const value of [...nothing, ...paths]) {
    t.notOk(isSecretValue('password', value), value);
  }
  for (const value of ['/not/a/host/path', 'truest', 'nonesuch', '************', 'a***']) {
    t.ok(isSecretValue('password', value), value);
  }
  const longest = `/etc/${'a'.repeat(506)}`;
  t.notOk(isSecretValue('password', longest));
  t.ok(isSecretValue('password', `${longest}a`), 'no path is that long');
  t.notOk(isSecretValue('PWD', '/root'), 'the working directory of a shell');
  t.notOk(isSecretValue('OLDPWD', '~/x'), 'the working directory of a shell');
  t.ok(isSecretValue('PWD', 'hunter2'));
  t.ok(isSecretValue('DB_PWD', '/hunter2'));
});

t.test('short forms of "password" after another word', async (t) => {
  const words =
    'db my smtp ldap user root admin bind proxy mail sql ftp pg redis enc key store trust ssh sudo wifi vnc smb';
  for (const word of words.split(' ')) {
    t.equal(sensitivityOf(`${word}pass`), 'always', word);
    t.equal(sensitivityOf(`-${word.toUpperCase()}PASS`), 'always', word);
  }
  const rows: readonly (readonly [name: string, sensitivity: string])[] = [
    ['pw', 'always'],
    ['DB-PW', 'always'],
    ['dbpw', 'never'],
    ['pwx', 'never'],
    ['db_PASS', 'always'],
    ['Pass', 'by-value'],
    ['XPass', 'by-value'],
    ['bypass', 'never'],
    ['passes', 'never'],
    ['A_TOKEN', 'always'],
    ['a_token', 'by-value'],
    ['A_TOKENS', 'by-value'],
    ['passwords', 'always'],
    ['password1', 'always'],
    ['DB_PASSWORD_NEW', 'always'],
    ['TOKEN_VALUE', 'by-value'],
    ['secretValue', 'by-value'],
    ['MASTER_KEY', 'always'],
    ['SECRET_ID', 'by-value'],
    ['password_policy', 'never'],
    ['tokenTtlSeconds', 'never'],
    ['password_bob', 'by-value'],
    ['1_SECRET', 'always'],
    ['a_CREDENTIAL', 'by-value'],
    ['-token', 'always'],
    ['--x-Token', 'always'],
    ['x--token', 'by-value'],
    ['token-', 'by-value'],
    ['api key', 'always'],
    [`${'x'.repeat(192)}password`, 'always'],
    [`${'x'.repeat(193)}password`, 'never'],
  ];
  for (const [name, sensitivity] of rows) {
    t.equal(sensitivityOf(name), sensitivity, name);
    t.equal(sensitivityOf(name), sensitivity, `${name} again`);
  }
});

t.test('ordinary values under names of secrets', async (t) => {
  const rows: readonly (readonly [name: string, value: string, isSecret: boolean])[] = [
    ['passwd', 'files sss systemd', false],
    ['passwd', 'files [SUCCESS=merge] altfiles', false],
    ['passwd_compat', 'nis', false],
    ['passwd', 'files words', true],
    ['password', 'files sss', true],
    ['passwd', 'install', false],
    ['passwd', 'deinstall', false],
    ['passwd', 'hold', false],
    ['passwd', 'holds', true],
    ['rootpasswd', 'hold', false],
    ['kpasswd', '464/tcp', false],
    ['kpasswd', '464/udp', false],
    ['kpasswd', '464/x', true],
    ['password', '464/tcp', true],
    ['--auth-token', 'simple', false],
    ['--auth-token', 'jwt', false],
    ['authtoken', 'jwt,sign-method=RS256', false],
    ['auth-token', 'jwts', true],
    ['api-token', 'simple', true],
    ['cookie', '0x7f3a9b2c41d5e680', false],
    ['cookie', '0x7f3a9b2c41d5e680/0xffffffff', false],
    ['cookie', '0x7f3a9b2c41d5e680/-1', false],
    ['cookie', '0x7f3a9b2c41d5e680a', true],
    ['key1', '0x7f3a9b2c41d5e680', false],
    ['xkey1', '0x7f3a9b2c41d5e680', true],
    ['proxyAuth', '0x7f3a9b2c41d5e680', false],
    ['password', '0x7f3a9b2c41d5e680', true],
    ['a/dep-b.etcd-client.secret', 'EGW8Ng==', false],
    ['dep-b.secret', 'EGW8Ng==', false],
    ['b.secret', 'dXNlcjp4', true],
    ['dep-b.secret', 'Zq8mK2vW4tYx', true],
    ['PWD', '/root', false],
    ['OLDPWD', '~', false],
    ['pwd', 'root/', true],
    // A name that is a test's result as well: letters and digits, from 8 to 128.
    ['pass', 'hunter22', true],
    ['Pass', 'HUNTER22', true],
    ['pass', 'hunter2', false],
    ['pass', 'hunterhunter', false],
    ['pass', '12345678', false],
    ['pass', 'hunter 22', false],
    ['pass', `7${'x'.repeat(127)}`, true],
    ['pass', `7${'x'.repeat(128)}`, false],
    ['bypass', 'hunter22', false],
  ];
  for (const [name, value, isSecret] of rows) {
    t.equal(isSecretValue(name, value), isSecret, `${name}=${value}`);
  }
});
