import { fstatSync } from 'node:fs';
import t from 'tap';
import { formatLine } from '../../../../lib/base/log/line.ts';
import { createLogger } from '../../../../lib/base/log/logger.ts';
import { redact } from '../../../../lib/base/log/redact.ts';

t.test('lines', async (t) => {
  const table: [object, string][] = [
    [{ level: 10, msg: 'x' }, '<7>x'],
    [{ level: 20, msg: 'x' }, '<7>x'],
    [{ level: 30, msg: 'etcd: started' }, '<6>etcd: started'],
    [{ level: 40, msg: 'x' }, '<4>x'],
    [{ level: 50, msg: 'x' }, '<3>x'],
    [{ level: 60, msg: 'x' }, '<2>x'],
    [{ msg: 'no level' }, '<6>no level'],
    [{ level: 30, msg: 'x', step: 'a', n: 3, ok: true }, '<6>x step=a n=3 ok=true'],
    [{ level: 30, msg: 'x', path: '/a/b.json', at: '10:00+1' }, '<6>x path=/a/b.json at=10:00+1'],
    [{ level: 30, msg: 'x', why: 'two words' }, '<6>x why="two words"'],
    [{ level: 30, msg: 'x', why: 'a="b"' }, '<6>x why="a=\\"b\\""'],
    [{ level: 30, msg: 'x', empty: '' }, '<6>x empty=""'],
    [{ level: 30, msg: 'x', list: [1, 'b'], no: null }, '<6>x list="[1,\\"b\\"]" no=null'],
    [{ level: 30, msg: 'first\n  second\r\nthird\n' }, '<6>first | second | third'],
    [{ level: 30, msg: 'fake\r<0>panic' }, '<6>fake | <0>panic'],
    [{ level: 30, msg: 'x', text: 'a\nb' }, '<6>x text="a\\nb"'],
    [{ level: 30, step: 'a' }, '<6>step=a'],
    [
      { level: 30, msg: 'pod \u001b[2J\u009bx of \u202eevil\u2028<0>panic' },
      '<6>pod \\u001b[2J\\u009bx of \\u202eevil\\u2028<0>panic',
    ],
    [{ level: 30, msg: 'x', name: 'a\u009bb\u2066' }, '<6>x name="a\\u009bb\\u2066"'],
    [{ level: 30, msg: 'x'.repeat(40_000) }, `<6>${'x'.repeat(32_768)} ...`],
  ];
  for (const [record, line] of table) t.equal(formatLine(JSON.stringify(record), true), line);
  t.equal(formatLine('{"level":50,"msg":"x"}', false), 'x', 'without priorities at a terminal');
});

t.test('the logger writes one line for each event', async (t) => {
  const lines: string[] = [];
  const log = createLogger({ write: (line) => lines.push(line), priorities: true });
  log.info({ left: '3s' }, 'Waiting for etcd');
  log.child({ step: 'etcd' }).warn('slow\ndisk');
  log.error({ password: 'hunter2' }, 'get https://u:hunter2@host/');
  log.debug('for those who ask for it');
  t.strictSame(lines, [
    '<6>Waiting for etcd left=3s\n',
    '<4>slow | disk step=etcd\n',
    '<3>get https://u:<redacted>@host/ password=<redacted>\n',
    '<7>for those who ask for it\n',
  ]);
  lines.length = 0;
  createLogger({ write: (line) => lines.push(line), priorities: false }).debug('not on a terminal');
  t.strictSame(lines, []);
});

t.test('priorities are written when journald reads', async (t) => {
  const before = process.env.JOURNAL_STREAM;
  t.teardown(() => {
    if (before === undefined) delete process.env.JOURNAL_STREAM;
    else process.env.JOURNAL_STREAM = before;
  });
  const first = () => {
    const lines: string[] = [];
    createLogger({ write: (line) => lines.push(line) }).info('x');
    return lines[0];
  };
  const { dev, ino } = fstatSync(1);
  process.env.JOURNAL_STREAM = `${dev}:${ino}`;
  t.equal(first(), '<6>x\n');
  process.env.JOURNAL_STREAM = `${dev}:${ino + 1}`;
  t.equal(first(), 'x\n', 'a pipe of a unit is not read by journald');
  delete process.env.JOURNAL_STREAM;
  t.equal(first(), 'x\n');
});

/** Secrets in the texts below, which no log may contain. */
const SECRET = /hunter2|aHVudGVyMg|MIGHAgEA|c2VjcmV0c2VjcmV0|LS0tLS1CRUdJTi/;
const pem = (kind = '') =>
  `-----BEGIN ${kind}PRIVATE KEY-----\nMIGHAgEAMBMG\nMIGHAgEA+/9=\n-----END ${kind}PRIVATE KEY-----`;
const base64 = (text: string) => Buffer.from(text).toString('base64');
const base64url = (text: string) => Buffer.from(text).toString('base64url');
const jwt = `${base64url('{"alg":"RS256","kid":"x"}')}.aHVudGVyMghunter2.aHVudGVyMg_-x`;
const pullSecret = '{"auths":{"quay.io":{"auth":"aHVudGVyMg==","email":"a@b"}}}';

t.test('secrets are redacted', async (t) => {
  const table: [string, string][] = [
    ['a key', pem()],
    ['an EC key', `write failed: ${pem('EC ')}; goes on`],
    ['an RSA key', pem('RSA ')],
    ['an encrypted key', pem('ENCRYPTED ')],
    ['a folded key', pem().replaceAll('\n', ' | ')],
    ['a key in JSON', JSON.stringify({ key: pem() })],
    ['a key that is cut', pem().slice(0, 45)],
    ['a password in a URL', 'GET https://admin:hunter2@host:8443/path'],
    ['a password with an @', 'https://admin:p@hunter2@host/path'],
    ['a password without a user', 'redis://:hunter2@host'],
    ['two URLs', 'http://a:hunter2@b/ and http://c:hunter2@d/'],
    ['a bearer header', 'Authorization: Bearer aHVudGVyMg.hunter2'],
    ['a bearer header in JSON', '{"authorization":"Bearer hunter2"}'],
    ['a bearer header in a list', '{"Authorization":["Bearer hunter2"]}'],
    ['a basic header', 'authorization: Basic aHVudGVyMg=='],
    ['a bearer token alone', 'sent Bearer hunter2hunter2hunter2'],
    ['a web token', `token was ${jwt}, rejected`],
    ['an OAuth token', `sha256~${'hunter2'.repeat(6)}`],
    ['a pull secret', pullSecret],
    ['a pull secret in JSON', JSON.stringify({ pullSecret })],
    ['a pull secret in JSON in JSON', JSON.stringify(JSON.stringify({ pullSecret }))],
    ['spaced JSON', '{ "auth" : "hunter2" }'],
    ['a password with a quote', JSON.stringify({ password: 'a"hunter2' })],
    ['kubeconfig, YAML', `client-key-data: ${base64(pem())}`],
    ['kubeconfig, JSON', `{"client-key-data":"${base64(pem())}"}`],
    ['a key in a data URL', `data:;base64,${base64(pem('EC '))}`],
    ['password=', 'login password=hunter2 ok'],
    ['a password that ends the text', '"password":"hunter2'],
    ['a password with a backslash', JSON.stringify({ password: 'hunter2\\\\', a: 1 })],
    ['password="…"', 'login password="my hunter2" ok'],
    ['token:', 'token: hunter2'],
    ['an encryption key', `secret: ${'c2VjcmV0'.repeat(5)}c2V=`],
    ['an encryption key in JSON', '{"keys":[{"name":"k","secret":"hunter2"}]}'],
  ];
  for (const [name, text] of table) {
    t.match(text, name === 'a key that is cut' ? /MIGH/ : SECRET, `${name}: the sample holds one`);
    const safe = redact(text);
    t.notMatch(safe, name === 'a key that is cut' ? /MIGH/ : SECRET, `${name}: ${safe}`);
    t.match(safe, '<redacted>', name);
    for (const fields of [{ text }, { nested: { text: [text] } }]) {
      const line = formatLine(JSON.stringify({ level: 30, msg: 'x', ...fields }), true);
      t.notMatch(line, SECRET, `${name}, as a field: ${line}`);
    }
  }
  t.equal(redact(`a ${pem()} b`), 'a <redacted> b', 'the text around a key stays');
  t.equal(redact(pullSecret), '{"auths":{"quay.io":{"auth":"<redacted>","email":"a@b"}}}');
  t.equal(redact('login password="a b", user=me'), 'login password="<redacted>", user=me');
  const fault = 'a.yaml:1: data.password: expected base64, found another text';
  t.equal(redact(fault), fault, 'what is wrong with such a field is no secret');
  t.equal(redact('password: expectedly'), 'password: <redacted>');
  for (const [name, value] of Object.entries({
    auth: 'aHVudGVyMg==',
    token: 'a hunter2',
    password: 'hunter2',
  })) {
    t.notMatch(formatLine(JSON.stringify({ msg: 'x', [name]: value }), true), SECRET, name);
  }
});

t.test('ordinary text passes unchanged', async (t) => {
  const certificate = '-----BEGIN CERTIFICATE-----\nMIIBhTCC\n-----END CERTIFICATE-----';
  const texts = [
    'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    'pulled quay.io/openshift/etcd@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    'docker://busybox:1.36@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    'boot 0b0e3a2c-6a44-4f5f-8f6f-0d2a3f0d8f11',
    'sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==',
    'GET https://api.example.com:6443/api/v1/nodes?limit=500',
    'https://[fd00::1]:6443/readyz',
    'core@node1 wrote to support@example.com',
    certificate,
    'data:;base64,LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t',
    'the bearer of this is authorized by the node authorizer',
    'Unauthorized: the token is not valid',
    'waiting for secret: kube-system/bootstrap-token',
    'Bearer authentication',
    'etcd revision 4711, hash 1234567890, 3.6.1',
    '{"kind":"Secret","metadata":{"name":"pull"}}',
    'authors=3 tokens=5 auth=rbac',
    '2026-01-01T00:00:00.000Z step 3 of 17: 10.0.0.1/24 on eth0',
  ];
  for (const text of texts) t.equal(redact(text), text);
});
