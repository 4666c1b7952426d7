/** Who may have made a portable backup, and what it may list: both are known before anything in it is used. */
import { execFileSync } from 'node:child_process';
import { sign } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createAuthority } from '../../../../lab/certificates/signed-now.ts';
import type { BackupFile } from '../../../../lib/change/backup/manifest.ts';
import {
  type AuthorOptions,
  acceptedAuthor,
} from '../../../../lib/change/backup/portable/accepted-author.ts';
import { type AcceptedAuthor, signHeader } from '../../../../lib/change/backup/portable/author.ts';
import type { PortableHeader } from '../../../../lib/change/backup/portable/header.ts';
import { readPortable } from '../../../../lib/change/backup/portable/read.ts';
import type { Sign } from '../../../../lib/change/backup/portable/write.ts';
import { authorityPaths } from '../../../../lib/render/kubernetes/authorities.ts';
import { issuedLeaves } from '../../../../lib/render/kubernetes/leaves.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';
import { textAt } from '../../render/rendered-host.ts';
import { BY_HOST, portableBackup, SIGNER, SIGNS } from './portable-backup.ts';

const { signal } = new AbortController();
const OTHER_ID = '11111111-1111-4111-8111-111111111111';

type Change = (header: PortableHeader) => PortableHeader;

/** A manifest that lists another file; the rest of it, and its signature, are right. */
const listing =
  (other: Partial<BackupFile>): Change =>
  ({ manifest, ...rest }) => {
    const [database, key] = manifest.files;
    if (database === undefined || key === undefined) throw new Error('two files');
    return { ...rest, manifest: { ...manifest, files: [database, { ...key, ...other }] } };
  };
const at = (host: string) => listing({ host, path: `host${host}` });

const hostile: [title: string, change: Change, says: RegExp][] = [
  ...[
    '/etc/kubernetes/manifests/other.yaml',
    '/etc/systemd/system/other.service',
    '/root/.ssh/authorized_keys',
    '/etc/kubernetes/pki/ca/etcd/other.key',
    '/etc/kubernetes/pki/ca/etcd/../../../../shadow',
    '/etc/kubernetes/pki/ca/etcd/ca.key/',
    '//etc/kubernetes/pki/ca/etcd/ca.key',
    'etc/kubernetes/pki/ca/etcd/ca.key',
    '',
  ].map((host): [string, Change, RegExp] => [
    `a file at ${JSON.stringify(host)}`,
    at(host),
    /files\[1\]\.host/,
  ]),
  ...[
    '../../etc/passwd',
    '/etc/passwd',
    'host/etc/kubernetes/pki/ca/admin/ca.key',
    'host/../host/etc/kubernetes/pki/ca/etcd/ca.key',
    'etcd-snapshot.db',
    'manifest.json',
    '',
  ].map((path): [string, Change, RegExp] => [
    `a key with the name ${JSON.stringify(path)} in it`,
    listing({ path }),
    /files\[1\]\.path: expected the name of a file of a backup/,
  ]),
  ...[0o4755, 0o2755, 0o1644, 0o755, 0o700, 0o666, 0o660, 0o645, -1].map(
    (mode): [string, Change, RegExp] => [
      `a key with the mode ${mode.toString(8)}`,
      listing({ mode }),
      new RegExp(`expected permissions of at most 0644, found 0${mode.toString(8)}\\b`),
    ],
  ),
  [
    'a key of 2 MiB',
    listing({ bytes: 2 ** 21 }),
    /files\[1\]\.bytes: expected a key or certificate of at most 1048576 bytes/,
  ],
  ['less than nothing', listing({ bytes: -1 }), /files\[1\]\.bytes/],
  [
    'one file twice',
    ({ manifest, ...rest }) => ({
      ...rest,
      manifest: { ...manifest, files: [...manifest.files, ...manifest.files.slice(1)] },
    }),
    /a file is listed twice/,
  ],
  [
    'no database',
    ({ manifest, ...rest }) => ({
      ...rest,
      manifest: { ...manifest, files: manifest.files.slice(1) },
    }),
    /etcd-snapshot\.db is not listed/,
  ],
];

t.test('a manifest lists what a backup contains, whoever has signed it', async (t) => {
  for (const [title, change, says] of hostile) {
    const { to, opening } = await portableBackup(t, change);
    const reader = { header: never, file: never };
    const error = await thrownBy(readPortable(to, opening, reader, signal));
    t.match(error, { kind: 'usage', code: 'backup-unusable', message: says }, title);
  }
  for (const mode of [0o600, 0o644, 0o400, 0o444, 0o640]) {
    const { to, opening } = await portableBackup(t, listing({ mode }));
    t.ok(await readPortable(to, opening, {}, signal), mode.toString(8));
  }
});

const never = async () => {
  throw new Error('nothing of it is used');
};

t.test('its author is known before anything in it is used', async (t) => {
  const other = await createAuthority('admin-ca');
  const refused = async (
    says: RegExp,
    author: AcceptedAuthor,
    signs: Sign | 'unsigned',
    change: Change = (header) => header,
  ) => {
    const { to, opening } = await portableBackup(t, change, undefined, signs);
    const reader = { header: never, file: never };
    const reading = readPortable(to, { ...opening, author }, reader, signal);
    t.match(
      await thrownBy(reading),
      { kind: 'usage', code: 'backup-unusable', details: { subject: to }, message: says },
      `${says}`,
    );
  };
  const accepted = { kind: 'accepted', clusterId: SIGNER.clusterId } as const;
  const byOther: Sign = (text) => signHeader(text, other.key);
  await refused(
    /nothing shows that the host of signer\.json made .*found no signature.*--accept-unsigned 6f0c8f0e\S+ instead of --signer/,
    BY_HOST,
    'unsigned',
  );
  await refused(/found a signature by another key.*rotate-ca/, BY_HOST, byOther);
  await refused(/found a signature by another key/, BY_HOST, (text) => SIGNS(`${text} `));
  // The key signs other things, too.
  await refused(/found a signature by another key/, BY_HOST, signedBare);
  await refused(/found a signature by another key/, BY_HOST, () => 'AAAA');
  await refused(/found a signature by another key/, BY_HOST, () => '');
  await refused(/with 5000/, BY_HOST, () => 'A'.repeat(5000));
  const half: Change = ({ manifest, ...rest }) => ({
    ...rest,
    manifest: { ...manifest, clusterId: 'another' },
  });
  for (const author of [BY_HOST, accepted, { kind: 'ignition' } as const]) {
    await refused(/it is of two clusters, another and 6f0c8f0e/, author, SIGNS, half);
  }
  const elsewhere: Change = ({ manifest, renderInput, ...rest }) => ({
    ...rest,
    manifest: { ...manifest, clusterId: OTHER_ID },
    renderInput: { ...renderInput, cluster: { ...renderInput.cluster, clusterId: OTHER_ID } },
  });
  for (const author of [BY_HOST, accepted]) {
    await refused(/it is of the cluster 11111111\S+, expected 6f0c8f0e/, author, SIGNS, elsewhere);
  }
  const { to, opening } = await portableBackup(t, undefined, undefined, 'unsigned');
  t.match(await readPortable(to, { ...opening, author: accepted }, {}, signal), {
    isSigned: false,
  });
});

/** By the same key, of any text. */
const signedBare: Sign = (text) =>
  sign('sha256', Buffer.from(text), textAt(authorityPaths('admin').key)).toString('base64');

t.test('one that an earlier release has signed is known, too', async (t) => {
  const earlier: Sign = (text) => signedBare(`sno-agents portable backup 1\n${text}`);
  const { to, opening } = await portableBackup(t, undefined, undefined, earlier);
  t.match(await readPortable(to, opening, {}, signal), { isSigned: true });
});

t.test('a backup of an earlier release, which signed none, is accepted once', async (t) => {
  const earlier: Change = (header) => ({ ...header, schemaVersion: 1 });
  const { to, opening, header } = await portableBackup(t, earlier, undefined, 'unsigned');
  t.match(await thrownBy(readPortable(to, opening, {}, signal)), { code: 'backup-unusable' });
  const author = { kind: 'accepted', clusterId: SIGNER.clusterId } as const;
  t.strictSame(await readPortable(to, { ...opening, author }, {}, signal), {
    header,
    isSigned: false,
  });
});

t.test('who has to have made it is said by one option', async (t) => {
  const file = join(t.testdir({ 'signer.json': JSON.stringify(SIGNER) }), 'signer.json');
  t.strictSame(await acceptedAuthor({ signer: file }), { kind: 'host', signer: SIGNER, file });
  const short = { ...SIGNER, clusterId: 'x' };
  writeFileSync(file, JSON.stringify(short));
  t.strictSame(await acceptedAuthor({ signer: file }), { kind: 'host', signer: short, file });
  t.strictSame(await acceptedAuthor({ acceptUnsigned: 'x' }), { kind: 'accepted', clusterId: 'x' });
  const refused = async (options: AuthorOptions, says: RegExp) =>
    t.match(await thrownBy(acceptedAuthor(options)), { kind: 'usage', message: says });
  await refused({}, /expected --signer FILE .* or --accept-unsigned CLUSTER-ID .*found neither/);
  await refused({ signer: file, acceptUnsigned: 'x' }, /found both/);
  await refused({ signer: '/nowhere' }, /--signer \/nowhere cannot be read/);
  const pipe = `${file}.pipe`;
  execFileSync('mkfifo', [pipe]);
  const stopped = AbortSignal.abort(new Error('told to stop'));
  t.match(await thrownBy(acceptedAuthor({ signer: pipe }, stopped)), { message: /^told to stop$/ });
  const wrong: object[] = [
    { ...SIGNER, schemaVersion: 2 },
    { ...SIGNER, clusterId: '' },
    { ...SIGNER, certificate: 'ssh-ed25519 AAAA' },
    { ...SIGNER, certificate: textAt(authorityPaths('admin').key) },
    // Any client of the cluster has one of these.
    { ...SIGNER, certificate: textAt(issuedLeaves.scheduler.certificate) },
  ];
  for (const signer of wrong) {
    writeFileSync(file, JSON.stringify(signer));
    await refused({ signer: file }, /signer\.json cannot be used to know the host/);
  }
});
