import t from 'tap';
import { expectMarked, safe } from './marked.ts';

const R = 'Zq8mK2vW4tYxR6nB';
const base64 = (text: string) => Buffer.from(text).toString('base64');

t.test('credentials in URLs', async (t) => {
  await expectMarked(t, [
    'https://user:«hunter22»@host/path?a=b c',
    'postgres://:«hunter22»@db:5432/x',
    '(https://user:«hunter22»@host) b',
    'https://user:«hunter@22»@host',
    `https://«${R}»@host/path`,
    'https://user@host/path',
    'https://deployment-robot@host/path',
    'https://host:8443/path/user@b',
    'https://host:8443?user@b',
    'https://user:«8443x»@host',
    `docker://quay.io:app@sha256:${'0a'.repeat(32)}`,
    'user:«hunter22»@tcp(db:3306)/x b',
    'user:«hunter22»@unix(/run/db)/x',
    'user@tcp(db:3306)/x',
  ]);
});

t.test('request headers', async (t) => {
  await expectMarked(t, [
    `Authorization: Bearer «${R}» b`,
    `sent bearer "«${R}»" b`,
    `sent BEARER%20«${R}»`,
    `["Bearer «${R}=»"]`,
    'Bearer credentials are needed. Digest verified. Bearer Token.',
    `Bearer ${'a'.repeat(31)} b`,
    `Bearer «${'a'.repeat(32)}» b`,
    `Negotiate «${R}» b`,
    `sent Basic «${base64('user:hunter22')}» b`,
    `sent Basic ${base64('no pair of words')} b`,
    'Basic authentication is off',
    'Cookie: «session=hunter22; other=b»',
    '"Cookie": ["«session=hunter22»"] b',
    'cookie: 42',
  ]);
});

t.test('tokens recognized by their prefix', async (t) => {
  const tokens = [
    `eyJhbGciOiJ.${R}.${R}`,
    `eyJhbGciOiJ..${R}.${R}.${R}`,
    `sha256~${R}AAAA`,
    `AKIA${R.toUpperCase()}`,
    `ghp_${R}AAAA`,
    `github_pat_${R}AAAA`,
    `glpat-${R}`,
    `xoxb-${R}`,
    `npm_${R}${R}AAAA`,
    `pypi-${R.repeat(4)}`,
    `dckr_pat_${R}AAAA`,
    `hvs.${R}AAAA`,
    `AIza${R}${R}AAA`,
    `ya29.${R}AAAA`,
    `AGE-SECRET-KEY-1${'Q'.repeat(58)}`,
    `AGE-SECRET-KEY-PQ-1${'Q'.repeat(58)}`,
    `AGE-PLUGIN-YUBIKEY-1${'Q'.repeat(26)}`,
    `sk_live_${R}`,
  ];
  const ordinary = (token: string) => token.replaceAll(/[«»]/g, '');
  for (const token of tokens) {
    await expectMarked(t, [
      `got «${token}» b`,
      `"«${token}»"`,
      `a=«${token}»`,
      `a\\n«${token}»\\nb`,
      `«a%3D${token}»`,
      `a\\u0026«${token}»`,
      // Part of another word.
      ordinary(`got x${token}`),
      ordinary(`got x-${token}`),
      token.slice(0, 9),
    ]);
  }
  await expectMarked(t, [
    `got hvsx${R}AAAA`,
    `got ya29x${R}AAAA`,
    `https://hooks.slack.com/services/«T12345678/B12345678/${R}» b`,
    `join K10x::server:«${R}» b`,
    `https://blob/x?sv=1&sig=«${R}»&b=c`,
    `core:«$6$salt$${R}»:1`,
    `core:«$apr1$salt$${R}»:1`,
    `x$6$salt$${R}`,
    'cost: $1$ is not a hash',
  ]);
});

t.test('what follows a name or a command is a secret by its form', async (t) => {
  const key = 'Zq8mK2vW4tYxR6nB'.repeat(3).slice(0, 43);
  const words = (length: number) => ' ab'.repeat(length / 3);
  await expectMarked(t, [
    // URLs and proxies.
    'http://a:«b»@h ftp://c:«d»@e',
    'http://host:80/a@b http://host:80,a@b http://host:80;a@b http://host:80#a@b',
    'proxy = me@host',
    'got proxy=me:«hunter22»@host b',
    'a@tcp(b) :c@tcp(d)',
    // Headers.
    'got Bearer «abc123» b',
    'got Bearer abc12 b',
    'Bearer some-words/more.words. b',
    'Bearer some-bearer «abc123» b',
    'Authorization: Bot required',
    'Authorization: Bot Denied. words',
    'Authorization: Bot «correcthorse» b',
    'Authorization: Digest username=me1',
    'Authorization: Custom words',
    'Authorization: Custom «words1» b',
    'Authorization: Custom «a=b&c1» b',
    `response="${'0a'.repeat(15)}" b`,
    `response="«${'0a'.repeat(16)}»" b`,
    `signature=${'a'.repeat(31)}`,
    `signature=«${'a'.repeat(32)}»`,
    'cookie: a=bcd',
    'cookie: «a=bcde»',
    // Signatures, keys and hashes.
    'x::server:seven77 b',
    'x::server:«eight888» b',
    'x?sig=fifteenletters1&b',
    'x?sig=«sixteenletters12»&b',
    'core:$6$seven77:1',
    'core:«$6$eight888»:1',
    `got private key: «${key}=» b`,
    `secret key: «${key.slice(0, 12)}» b`,
    'secret key: ordinarywords b',
    `grub.pbkdf2.${'a'.repeat(31)} b`,
    `«grub.pbkdf2.${'a'.repeat(32)}» b`,
    // Programs.
    "identified by '«x»'",
    'identified by words',
    // The word beside which a value is recognized may be far away, but not everywhere.
    `abcdef.0123456789abcdef${words(180)} token`,
    'token: xabcdef.0123456789abcdef abcdef.0123456789abcdefx',
    'password a1b2c-d3e4f-g5h6i-j7k8l A1B2C-D3E4F-G5H6I-J7K8L A1b2C-d3E4f-G5h6I',
    `"kty":"EC","k":"${'a'.repeat(19)}"`,
    `"kty":"EC","k":"«${'a'.repeat(20)}»"`,
    `"kty":"EC","dp":"«${key}»","dq":"«${key}»","qi":"«${key}»","q":"«${key}»","n":"${key}"`,
  ]);
});

t.test('values recognized only beside a word', async (t) => {
  const token = 'abcdef.0123456789abcdef';
  const admin = 'A1b2C-d3E4f-G5h6I-j7K8l';
  const words = (length: number) => ' ab'.repeat(length / 3);
  await expectMarked(t, [
    `kubeadm join --token «${token}» b`,
    `«${token}» is the token`,
    `«${token}»${words(150)} token`,
    `${token}${words(210)} token`,
    `token${words(300)} «${token}»`,
    `token${words(450)} ${token}`,
    `token${words(30)} «${token}» and «ghijkl.0123456789ghijkl»`,
    // The end of what the first word covers is near, and the second word is close to the value.
    `token ${'x'.repeat(328)} token ${'x'.repeat(34)} «${token}» b`,
    `join ${token} b`,
    'a token 123456.0123456789012345',
    'a token abcdef.ghijklabcdefghij',
    `log in as "kubeadmin" with «${admin}»`,
    `password is «${admin}»`,
    `the word is ${admin}`,
    `{"kty":"EC","x":"${R}AAAA","d":"«${R}AAAA»"}`,
    `{"d":"«${R}AAAA»","kty":"EC"}`,
    `{\\"kty\\":\\"RSA\\",\\"p\\":\\"«${R}AAAA»\\"}`,
    `{"key":"EC","d":"${R}AAAA"}`,
    `{"d":"«${R}AAAA»"${words(8100)},"kty":"EC"}`,
    `{"d":"${R}AAAA"${words(8190)},"kty":"EC"}`,
    `{"kty":"EC"${words(8100)},"d":"«${R}AAAA»"}`,
    `{"kty":"EC"${words(8190)},"d":"${R}AAAA"}`,
  ]);
});

t.test('text around triggers is examined once, however many there are', async (t) => {
  const line = `${'"kty" '.repeat(150_000)}b\n`;
  t.ok((await safe(line)) === line);
});

t.test('options of programs', async (t) => {
  await expectMarked(t, [
    'curl -u me:«hunter22» https://host',
    'curl -ume:«hunter22» https://host',
    'curl -kume:«hunter22» https://host',
    'curl -ku me:«hunter22» https://host',
    'curl -sSfku "me:«hunter22»" https://host',
    'curl -sS -Ume:«hunter22» https://host',
    'curl -ume https://host:443',
    'curl --user=me:«hunter22» https://host',
    'docker run -u 1000:1000 app',
    'docker run -u 1000:«10000000» app',
    'curl -u me https://host',
    'skopeo copy --src-creds me:«hunter22» a --dest-creds "me:«hunter23»" b',
    'sshpass -p «hunter22» ssh host',
    'ipmitool -H bmc -P «hunter22» power on',
    `ipmitool${' ab'.repeat(120)} -P «hunter22» power on`,
    `ipmitool${' ab'.repeat(200)} -P hunter22 power on`,
    'openssl rsa -passin pass:«hunter22» -in a',
    'openssl rsa -passin file:hunter22',
    'curl\0-u\0me:«hunter22»\0',
  ]);
});

t.test('percent-encoded documents', async (t) => {
  const form = encodeURIComponent('{"password": "hunter22"}');
  const plain = encodeURIComponent('{"user": "hunter22", "b": 1}');
  await expectMarked(t, [
    `body=«${form}»&b=c`,
    `body="«${form}»" b`,
    `GET /x?q=«${form}»;b`,
    `body=«${encodeURIComponent(form)}» b`,
    `body=${plain}&b=c`,
    'x?«password%3Dhunter22abc» b',
    'x?«password%3Ahunter22abc»',
    // These codes indicate a document, which is removed as a whole; others are single characters.
    ...['22', '25', '2b', '2B', '2f', '3a', '3d', '7b', '0a'].map(
      (code) => `x=«a%${code}ghp_${R}AAAA» b`,
    ),
    `x=a%41«ghp_${R}AAAA» b`,
    ...[' ', '\t', '\0', '"', "'", '`', '<', '>', '&', '?', ';', ',', '(', ')', '[', ']'].map(
      (end) => `x=«password%3Ahunter22abc»${end}b`,
    ),
    ...['{', '}', '=', ':', '\\'].map((end) => `x${end}«password%3Ahunter22abc»${end}b`),
    'a%3Ab%3Dc',
    // Shorter than 16 characters is not decoded.
    'x?pwd%3Dhunter2ab b',
    'x?«pwd%3Dhunter2abc» b',
    '100%25 of %3A',
  ]);
});

t.test('paths are not secrets, values too long for a path are', async (t) => {
  const path = `/etc/${'a'.repeat(506)}`;
  await expectMarked(t, [
    `password=${path} b`,
    `got password=«${path}a» b`,
    'password=/run/secrets/db b',
    'password=file:///etc/db b',
    'got password=«/hunter/22» b',
    'PWD=/hunter/22 b',
    'OLDPWD=~/x b',
    'got DB_PWD=«/hunter/22» b',
  ]);
});

t.test('a password in the sentence of an installer', async (t) => {
  await expectMarked(t, [
    'The password for user "bob" was set to «hunter22»',
    'Password for bob is: expired',
    'password for bob has been set to nothing',
    'Password for bob is: abcde',
  ]);
});
