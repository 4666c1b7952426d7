import { appendFileSync, chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { exitCodeFor } from '../../../../lib/base/errors/exit-codes.ts';
import {
  backupName,
  isPartial,
  restoredMode,
  timeOfBackup,
} from '../../../../lib/change/backup/manifest.ts';
import { verifyBackup } from '../../../../lib/change/backup/verify.ts';
import { ownUser } from '../../../../lib/host/process.ts';
import { cluster } from '../../agents/host/cluster.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';
import { writeBackup } from './backup-folder.ts';

const KEY = 'host/etc/kubernetes/pki/ca/etcd/ca.key';
const DB = 'etcd-snapshot.db';
const options = {
  clusterId: cluster.clusterId,
  owner: ownUser(),
  signal: new AbortController().signal,
};

t.test('a complete backup is what its manifest says', async (t) => {
  const folder = t.testdir();
  chmodSync(folder, 0o700);
  const manifest = writeBackup(folder, { [KEY]: 'a key' });
  t.strictSame(await verifyBackup(folder, options), manifest);
});

const broken: [title: string, breakIt: (folder: string) => void, says: RegExp][] = [
  ['that does not exist', (folder) => rmSync(folder, { recursive: true }), /does not exist/],
  ['without a manifest', (folder) => rmSync(join(folder, 'manifest.json')), /manifest\.json/],
  [
    'of another cluster',
    (folder) => writeBackup(folder, {}, { clusterId: 'other' }),
    /of the cluster other, this one is 6f0c8f0e/,
  ],
  [
    'with a changed database',
    (folder) => appendFileSync(join(folder, DB), 'x'),
    /etcd-snapshot\.db: expected SHA-256 \w{64}, found \w{64}/,
  ],
  ['without its database', (folder) => rmSync(join(folder, DB)), /etcd-snapshot\.db: .*ENOENT/],
  [
    'whose manifest does not list a database',
    (folder) => {
      writeBackup(folder, {}, { files: [] });
      rmSync(join(folder, DB));
    },
    /etcd-snapshot\.db is not listed/,
  ],
  ['with a file too many', (folder) => writeFileSync(join(folder, 'x'), ''), /x is not listed/],
  [
    'with a link as database',
    (folder) => {
      rmSync(join(folder, DB));
      symlinkSync('/etc/hostname', join(folder, DB));
    },
    /etcd-snapshot\.db is not a regular file/,
  ],
  [
    'with a file that others can write',
    (folder) => chmodSync(join(folder, DB), 0o666),
    /etcd-snapshot\.db can be written by other users/,
  ],
  [
    'with a link as a key, in its folders',
    (folder) => {
      writeBackup(folder, { [KEY]: 'a key' });
      rmSync(join(folder, KEY));
      symlinkSync('/etc/hostname', join(folder, KEY));
    },
    /etcd\/ca\.key is not a regular file/,
  ],
  [
    'with a folder of keys that others can write',
    (folder) => {
      writeBackup(folder, { [KEY]: 'a key' });
      chmodSync(join(folder, 'host/etc'), 0o720);
    },
    /found host\/etc can be written by other users/,
  ],
  [
    'with a key too many',
    (folder) => {
      const { files } = writeBackup(folder, { [KEY]: 'a key' });
      writeBackup(folder, {}, { files: files.slice(0, 1) });
    },
    /etcd\/ca\.key is not listed/,
  ],
  [
    'in a folder that others can write',
    (folder) => chmodSync(folder, 0o770),
    /the folder can be written by other users/,
  ],
  [
    'whose manifest leads out of it',
    (folder) => {
      const { files } = writeBackup(folder);
      const outside = { path: '../x', mode: 0o600, bytes: 1, sha256: 'a' };
      writeBackup(folder, {}, { files: [...files, outside] });
    },
    /expected the name of a file of a backup, found \{"path":"\.\.\/x"/,
  ],
  [
    'of a newer version',
    (folder) =>
      writeFileSync(join(folder, 'manifest.json'), '{"schemaVersion":2}', { mode: 0o600 }),
    /newer version of sno-agents \(schemaVersion 2, this one reads 1\)/,
  ],
];
for (const [title, breakIt, says] of broken) {
  t.test(`a backup ${title} is refused`, async (t) => {
    const folder = join(t.testdir(), 'backup');
    mkdirSync(folder, { mode: 0o700 });
    writeBackup(folder);
    breakIt(folder);
    const thrown = await thrownBy(verifyBackup(folder, options));
    t.match(thrown, {
      kind: 'usage',
      code: 'backup-unusable',
      details: { subject: folder },
      message: says,
    });
    t.equal(exitCodeFor(thrown), 2);
  });
}

t.test('everything that is wrong is said at once', async (t) => {
  const folder = t.testdir();
  chmodSync(folder, 0o700);
  writeBackup(folder, { [KEY]: 'a key' }, { clusterId: 'other' });
  for (const path of [DB, KEY]) appendFileSync(join(folder, path), 'x');
  const thrown = await thrownBy(verifyBackup(folder, options));
  for (const says of [/cluster other/, /snapshot\.db: expected/, /ca\.key: expected/]) {
    t.match(thrown, { message: says });
  }
});

t.test('files of another user are refused, each of them', async (t) => {
  const folder = t.testdir();
  chmodSync(folder, 0o700);
  writeBackup(folder, { [KEY]: 'a key' });
  const thrown = await thrownBy(verifyBackup(folder, { ...options, owner: ownUser() + 1 }));
  for (const name of ['the folder', DB, 'manifest.json', 'host', KEY])
    t.match(thrown, { message: new RegExp(`(found |; )${name} belongs to user \\d+, not \\d+`) });
});

t.test('whoever is told to stop says nothing of the backup', async (t) => {
  const folder = t.testdir();
  chmodSync(folder, 0o700);
  writeBackup(folder);
  const signal = AbortSignal.abort(new Error('stopped'));
  const failure = await thrownBy(verifyBackup(folder, { ...options, signal }));
  t.match(failure, { message: /^stopped$/ });
});

t.test('names of backups are UTC times', async (t) => {
  const at = new Date('2030-01-02T03:04:05.678Z');
  t.equal(backupName(at), '20300102T030405Z');
  t.strictSame(timeOfBackup('20300102T030405Z'), new Date('2030-01-02T03:04:05Z'));
  for (const name of ['x', '20301302T030405Z', '20300102T030405', '20300102T030405Z.partial']) {
    t.equal(timeOfBackup(name), undefined, name);
  }
  t.ok(isPartial('20300102T030405Z.partial'));
  for (const name of ['20300102T030405Z', '20300102T030405Z-another', 'x.partial'])
    t.notOk(isPartial(name), name);
});

t.test('what others could not read before a restore, they cannot afterwards', async (t) => {
  for (const mode of [0o600, 0o640, 0o400, 0o440]) t.equal(restoredMode(mode), 0o600, `${mode}`);
  for (const mode of [0o644, 0o604, 0o444]) t.equal(restoredMode(mode), 0o644, `${mode}`);
});
