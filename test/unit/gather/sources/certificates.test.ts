import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import t from 'tap';
import {
  certificates,
  certificatesIn,
  certificateTable,
  hostCertificates,
} from '../../../../agents/gather/sources/certificates.ts';
import { createAuthority, issueLeaf } from '../../../../lab/certificates/signed-now.ts';
import { hostPaths } from '../../../../lib/host/paths.ts';
import { kubeconfig } from '../../../../lib/pki/kubeconfig.ts';
import { hostAt, read, soon } from './host.ts';

const now = new Date('2026-03-01T12:00:00Z');
const DAY_MS = 86_400_000;

const authority = await createAuthority('test-ca', undefined, now);
const leaf = await issueLeaf(
  authority,
  {
    subject: { commonName: 'system:node:edge', organizations: ['system:nodes'] },
    usage: 'both',
    dnsNames: ['edge.example.test'],
    ipAddresses: ['192.0.2.7'],
    lifetimeDays: 10,
  },
  now,
);

async function put(root: string, path: string, contents: string): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), contents);
}

t.test('certificates of each form, in their order, and never a key', async (t) => {
  const embedded = kubeconfig({
    server: 'https://127.0.0.1:6443',
    cluster: 'c',
    user: 'u',
    credentials: { kind: 'embedded', authority: authority.certificate, ...leaf },
  });
  const asJson = JSON.stringify({
    'client-certificate-data': Buffer.from(leaf.certificate).toString('base64'),
  });
  const cases: [name: string, text: string, subjects: RegExp[]][] = [
    ['one', leaf.certificate, [/edge/]],
    ['a key before it', `${leaf.key}\n${leaf.certificate}`, [/edge/]],
    ['a bundle', leaf.certificate + authority.certificate, [/edge/, /test-ca/]],
    ['a kubeconfig', embedded, [/test-ca/, /edge/]],
    ['a kubeconfig in JSON', asJson, [/edge/]],
    ['a key alone', leaf.key, []],
    ['a text', 'nothing of the kind', []],
  ];
  for (const [name, text, subjects] of cases) {
    const { entries, faults } = certificatesIn('/x', text);
    t.strictSame(faults, [], name);
    t.equal(entries.length, subjects.length, name);
    for (const [index, subject] of subjects.entries()) {
      t.match(entries[index], { file: '/x', index, subject }, name);
    }
    t.notMatch(JSON.stringify(entries), /PRIVATE|LS0t/, name);
  }
  t.match(certificatesIn('/x', leaf.certificate).entries[0], {
    issuer: /test-ca/,
    names: ['edge.example.test', '192.0.2.7'],
    notBefore: '2026-02-28T12:00:00.000Z',
    notAfter: '2026-03-11T12:00:00.000Z',
    isAuthority: false,
    serial: /^[0-9a-f]+$/,
    sha256: /^[0-9a-f]{64}$/,
  });
  const damaged = leaf.certificate.replace(/\n.{20}/, '\nAAAAAAAAAAAAAAAAAAAA');
  t.match(certificatesIn('/x', damaged), { entries: [], faults: [/^\/x, number 1: /] });
});

t.test('the certificates of a host, its links followed no further than their folder', async (t) => {
  const root = t.testdir({});
  const pki = '/var/lib/kubelet/pki';
  await put(root, `${pki}/kubelet-client-2026-01-01-00-00-00.pem`, leaf.certificate);
  await put(root, `${pki}/kubelet-client-2026-02-01-00-00-00.pem`, leaf.certificate + leaf.key);
  await symlink(
    `${root}${pki}/kubelet-client-2026-02-01-00-00-00.pem`,
    join(root, pki, 'kubelet-client-current.pem'),
  );
  await put(root, `${pki}/kubelet-server-2026-01-01-00-00-00.pem`, leaf.certificate);
  await put(root, '/etc/kubernetes/pki/ca/ca.crt', authority.certificate);
  await put(root, '/outside/secret.crt', leaf.certificate);
  await symlink(join(root, '/outside/secret.crt'), join(root, '/etc/kubernetes/leads-out.crt'));
  const { entries, faults } = await hostCertificates({ paths: hostPaths(root) }, soon());
  t.strictSame(entries.map(({ file }) => file).toSorted(), [
    '/etc/kubernetes/pki/ca/ca.crt',
    // The current one through its link; earlier ones are superseded.
    `${pki}/kubelet-client-current.pem`,
    `${pki}/kubelet-server-2026-01-01-00-00-00.pem`,
  ]);
  t.match(faults, [/leads-out.crt is a link that leads elsewhere/]);
  const host = hostAt(root, root);
  const text = await read(certificates, host, 'control-plane/master/certificates/certificates.txt');
  t.match(text, /CANNOT BE READ {2}\/etc\/kubernetes\/leads-out.crt/);
  const json = await read(
    certificates,
    host,
    'control-plane/master/certificates/certificates.json',
  );
  t.strictSame(JSON.parse(json), entries);
  t.notMatch(text + json, 'PRIVATE');
});

t.test('the table starts with the first to expire', async (t) => {
  const found = certificatesIn('/bundle.pem', authority.certificate + leaf.certificate);
  const firstLine = (days: number) =>
    certificateTable(found, now.getTime() + days * DAY_MS).split('\n')[0];
  t.equal(firstLine(0), '10 days left  /bundle.pem (number 2)');
  t.equal(firstLine(12.5), 'EXPIRED 3 days ago  /bundle.pem (number 2)');
  t.equal(firstLine(-30), 'NOT YET VALID  /bundle.pem (number 2)');
  const [, what, dates, names] = certificateTable(found, now.getTime()).split('\n');
  t.match(what, /^ {4}leaf .*edge.*, issued by .*test-ca/);
  t.match(dates, '    from 2026-02-28T12:00:00.000Z until 2026-03-11T12:00:00.000Z');
  t.equal(names, '    for edge.example.test, 192.0.2.7');
});
