import t from 'tap';
import { parse, parseDocument } from 'yaml';
import { standingOf, withCredentials } from '../../../cli/wait-for/own-kubeconfig.ts';
import {
  createAuthority,
  createLaptopAuthorities,
  issueLeaf,
} from '../../../lab/certificates/signed-now.ts';
import { readGoYaml } from '../../../lib/base/go-yaml/read.ts';
import { writeGoYaml } from '../../../lib/base/go-yaml/write.ts';
import { adminKubeconfig, kubeconfig } from '../../../lib/pki/kubeconfig.ts';

const DAY_MS = 86_400_000;
const now = new Date('2026-03-01T12:00:00Z');
const after = (days: number) => new Date(now.getTime() + days * DAY_MS);
const hostCa = await createAuthority('admin-ca@1700000000', undefined, now);

async function signedFor(groups: string[], kind: 'embedded' | 'own-key' | 'files' = 'embedded') {
  const subject = { commonName: 'system:admin', organizations: groups };
  // A lifetime of 300 days, the backdating included.
  const profile = { subject, usage: 'client', lifetimeDays: 299 } as const;
  const leaf = await issueLeaf(hostCa, profile, now);
  return kubeconfig({
    server: 'https://api.edge.example.test:6443',
    cluster: 'edge',
    user: 'admin',
    credentials: { kind, authority: hostCa.certificate, ...leaf },
  });
}

const first = await adminKubeconfig(
  'edge.example.test',
  'edge',
  await createLaptopAuthorities(now),
  now,
);
const exchanged = await signedFor(['sno:administrators']);
const withUser = (user: object) => {
  const config = parse(first);
  config.users[0].user = user;
  return JSON.stringify(config);
};

t.test('whose certificate it is', async (t) => {
  t.same(standingOf(first, now), { kind: 'first' });
  t.same(standingOf(first, after(3649)), { kind: 'first' }, 'at any age');
  for (const [what, text] of [
    ['of another group', await signedFor(['system:masters'])],
    ['with its key in a file', await signedFor(['sno:administrators'], 'own-key')],
    ['in files', await signedFor(['sno:administrators'], 'files')],
    ['a token', withUser({ token: 'secret' })],
    ['nothing', withUser({})],
    ['no such user', JSON.stringify({ ...parse(first), users: [] })],
  ] as const) {
    t.same(standingOf(text, now), { kind: 'foreign' }, what);
  }
});

t.test('it is due in the last third of its lifetime', async (t) => {
  const dates = { renewableFrom: after(199), notAfter: after(299) };
  for (const [days, isDue] of [
    [0, false],
    [198.9, false],
    [199, true],
    [298, true],
    [400, true],
  ] as const) {
    t.same(standingOf(exchanged, after(days)), { kind: 'exchanged', isDue, ...dates });
  }
});

t.test('only the credentials of the current context are replaced', async (t) => {
  const document = parseDocument(first);
  document.commentBefore = ' of the site';
  const config = document.toJS();
  const others = {
    ...config,
    contexts: [
      { name: 'other', context: { cluster: 'other', user: 'other' } },
      { name: 'admin', context: { ...config.contexts[0].context, namespace: 'shop' } },
    ],
    users: [{ name: 'other', user: { token: 'x' } }, ...config.users],
    clusters: [{ name: 'other', cluster: { server: 'https://o:6443' } }, ...config.clusters],
  };
  const text = `# of the site\n${JSON.stringify(others, null, 2)}\n`;
  const changed = withCredentials(text, 'CA', { certificate: 'CERTIFICATE', key: 'KEY' });
  const base64 = (pem: string) => Buffer.from(pem).toString('base64');
  const { server } = config.clusters[0].cluster;
  t.same(parse(changed), {
    ...others,
    users: [
      others.users[0],
      {
        name: 'admin',
        user: {
          'client-certificate-data': base64('CERTIFICATE'),
          'client-key-data': base64('KEY'),
        },
      },
    ],
    clusters: [
      others.clusters[0],
      { name: 'edge', cluster: { server, 'certificate-authority-data': base64('CA') } },
    ],
  });
  t.match(changed, /^# of the site$/m);
});

t.test('a CA in a file gives way to the one that was tried', async (t) => {
  const config = parse(first);
  config.clusters[0].cluster = { server: 'https://a:6443', 'certificate-authority': 'ca.crt' };
  const changed = withCredentials(JSON.stringify(config), 'CA', { certificate: 'C', key: 'K' });
  t.same(parse(changed).clusters[0].cluster, {
    server: 'https://a:6443',
    'certificate-authority-data': Buffer.from('CA').toString('base64'),
  });
});

t.test('what Go reads stays the same, with quotes where it needs them', async (t) => {
  const config = parse(first);
  config.clusters[0].name = 'no';
  config.contexts[0].context.cluster = 'no';
  config.users[0].user.username = '0x1';
  const written = writeGoYaml(config);
  const changed = withCredentials(written, 'CA', { certificate: 'C', key: 'K' });
  t.match(readGoYaml(changed), {
    clusters: [{ name: 'no' }],
    contexts: [{ context: { cluster: 'no' } }],
    users: [{ user: { username: '0x1', 'client-key-data': 'Sw==' } }],
  });
  t.equal(changed, withCredentials(changed, 'CA', { certificate: 'C', key: 'K' }));
});

t.test('a text that cannot keep its comments and its values keeps its values', async (t) => {
  const config = parse(first);
  config.clusters[0].cluster['tls-server-name'] = 'PLACE';
  // A number that is too large is text to Go, and infinite to the parser that keeps comments.
  const text = `# kept\n${writeGoYaml(config).replace('PLACE', '1e400')}`;
  const changed = withCredentials(text, 'CA', { certificate: 'C', key: 'K' });
  t.match(readGoYaml(changed), { clusters: [{ cluster: { 'tls-server-name': '1e400' } }] });
});
