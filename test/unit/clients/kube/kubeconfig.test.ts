import t from 'tap';
import { readKubeconfig } from '../../../../lib/clients/kube/kubeconfig.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const FILES = { 'ca.pem': 'CA', pki: { 'c.pem': 'CERT', 'k.pem': 'KEY', token: ' TOKEN\n' } };

/** JSON is YAML too. Each of context, cluster and user comes after another one. */
function config(cluster: object, user: object, more: object = {}): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'here',
    contexts: [
      { name: 'there', context: { cluster: 'other', user: 'other' } },
      { name: 'here', context: { cluster: 'c', user: 'u', namespace: 'ns' } },
    ],
    clusters: [
      { name: 'other', cluster: { server: 'https://192.0.2.1:6443' } },
      { name: 'c', cluster: { server: 'https://127.0.0.1:6443', ...cluster } },
    ],
    users: [
      { name: 'other', user: {} },
      { name: 'u', user },
    ],
    ...more,
  });
}

const authority = { 'certificate-authority': 'ca.pem' };
const NO_CREDENTIALS = { certificate: undefined, key: undefined, token: undefined };
const GOOD: readonly { title: string; text: string; access: object }[] = [
  {
    title: 'files beside it',
    text: config(authority, { 'client-certificate': 'pki/c.pem', 'client-key': 'pki/k.pem' }),
    access: { ca: 'CA', certificate: 'CERT', key: 'KEY', token: undefined },
  },
  {
    title: 'data inside, which comes before files',
    text: config(
      { ...authority, 'certificate-authority-data': base64('ca') },
      {
        'client-certificate': 'gone',
        'client-certificate-data': base64('cert'),
        'client-key': 'gone',
        'client-key-data': base64('key'),
      },
    ),
    access: { ca: 'ca', certificate: 'cert', key: 'key', token: undefined },
  },
  {
    title: 'a token',
    text: config(authority, { token: ' secret\n', tokenFile: 'gone' }),
    access: { ca: 'CA', ...NO_CREDENTIALS, token: 'secret' },
  },
  {
    title: 'a file with a token',
    text: config(authority, { tokenFile: 'pki/token' }),
    access: { ca: 'CA', ...NO_CREDENTIALS, token: 'TOKEN' },
  },
  {
    title: 'nothing to prove who asks; verification on in so many words',
    text: config({ ...authority, 'insecure-skip-tls-verify': false }, {}),
    access: { ca: 'CA', ...NO_CREDENTIALS },
  },
];

for (const { title, text, access } of GOOD) {
  t.test(`access by ${title}`, async (t) => {
    const root = t.testdir({ config: text, ...FILES });
    const server = new URL('https://127.0.0.1:6443');
    t.strictSame(await readKubeconfig(`${root}/config`), { server, ...access });
  });
}

const BAD: readonly { title: string; text: string | undefined; reason: RegExp }[] = [
  { title: 'no file', text: undefined, reason: /ENOENT/ },
  { title: 'no YAML', text: 'a: [', reason: /flow/i },
  { title: 'an empty file', text: '', reason: /a mapping/ },
  {
    title: 'plain http',
    text: config({ ...authority, server: 'http://127.0.0.1' }, {}),
    reason: /server/,
  },
  { title: 'no URL', text: config({ ...authority, server: 'here' }, {}), reason: /server/ },
  {
    title: 'no current context',
    text: config(authority, {}, { 'current-context': '' }),
    reason: /current-context/,
  },
  {
    title: 'an unknown context',
    text: config(authority, {}, { 'current-context': 'y' }),
    reason: /context y not found/,
  },
  {
    title: 'an unknown cluster',
    text: config(authority, {}, { clusters: [] }),
    reason: /cluster c not found/,
  },
  {
    title: 'an unknown user',
    text: config(authority, {}, { users: [] }),
    reason: /user u not found/,
  },
  {
    title: 'a context without a user',
    text: config(authority, {}, { contexts: [{ name: 'here', context: { cluster: 'c' } }] }),
    reason: /contexts\[0\]\.context\.user/,
  },
  {
    title: 'a context without a cluster',
    text: config(authority, {}, { contexts: [{ name: 'here', context: { user: 'u' } }] }),
    reason: /contexts\[0\]\.context\.cluster/,
  },
  ...['contexts', 'clusters', 'users'].map((list) => ({
    title: `${list} that are no list of names`,
    text: config(authority, {}, { [list]: [{}] }),
    reason: new RegExp(`${list}\\[0\\]\\.name`),
  })),
  { title: 'no authority', text: config({}, {}), reason: /cluster c has no certificate-authority/ },
  {
    title: 'verification off',
    text: config({ ...authority, 'insecure-skip-tls-verify': true }, {}),
    reason: /insecure-skip-tls-verify/,
  },
  {
    title: 'a missing certificate',
    text: config(authority, { 'client-certificate': 'gone.pem' }),
    reason: /gone\.pem/,
  },
  ...['certificate-authority', 'certificate-authority-data'].map((field) => ({
    title: `${field} of another type`,
    text: config({ ...authority, [field]: ['!'] }, {}),
    reason: new RegExp(field),
  })),
  {
    title: 'authority data that are not base64',
    text: config({ 'certificate-authority-data': '!' }, {}),
    reason: /certificate-authority-data/,
  },
  ...[
    'client-certificate',
    'client-certificate-data',
    'client-key',
    'client-key-data',
    'token',
    'tokenFile',
  ].map((field) => ({
    title: `${field} of another type`,
    text: config(authority, { [field]: ['!'] }),
    reason: new RegExp(`user u: [^]*${field}`),
  })),
  ...['client-certificate-data', 'client-key-data'].map((field) => ({
    title: `${field} that is not base64`,
    text: config(authority, { [field]: '!' }),
    reason: new RegExp(field),
  })),
];

for (const { title, text, reason } of BAD) {
  t.test(`refused: ${title}`, async (t) => {
    const root = t.testdir({ ...FILES, ...(text === undefined ? {} : { config: text }) });
    const path = `${root}/config`;
    t.match(await thrownBy(readKubeconfig(path)), {
      kind: 'usage',
      message: `the kubeconfig ${path} cannot be used`,
      details: { found: reason },
    });
  });
}
