import { appendFileSync, chmodSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { exportBackup } from '../../../../agents/steps/backup/export.ts';
import { runBackup } from '../../../../agents/upkeep/backup/main.ts';
import { Failure } from '../../../../lib/base/errors/failure.ts';
import { failureData } from '../../../../lib/base/errors/failure-data.ts';
import { readPortable } from '../../../../lib/change/backup/portable/read.ts';
import { decrypterFor, encrypterFor } from '../../../../lib/change/backup/portable/recipients.ts';
import { recordFailure } from '../../../../lib/change/change.ts';
import { restoreChange } from '../../../../lib/change/restore/request.ts';
import { sha256 } from '../../../../lib/host/files.ts';
import { authorityPaths, laptopAdminCa } from '../../../../lib/render/kubernetes/authorities.ts';
import { saveRenderInput } from '../../../../lib/render/render-input.ts';
import { sealed } from '../../../../lib/secrets/seal/envelope.ts';
import { sealPlaces } from '../../../../lib/secrets/seal/places.ts';
import { writeBackup } from '../../change/backup/backup-folder.ts';
import {
  ageKeys,
  BY_HOST,
  KEY,
  KEY_FILE,
  portableBackup,
  SIGNER,
} from '../../change/backup/portable-backup.ts';
import { input, textAt } from '../../render/rendered-host.ts';
import { cluster } from '../host/cluster.ts';
import type { TestHost } from '../host/host.ts';
import { writePayload } from '../host/payload.ts';
import { BACKUPS, ENCRYPTION, NAME, restoringHost } from './backup-host.ts';

/** A host without a request; `ends` is what the unit does. */
async function commandHost(t: Test) {
  const { host, folder } = await restoringHost(t);
  await restoreChange.end(host.paths, (it) => it);
  host.write('/etc/sno-agents/cluster.json', JSON.stringify(cluster));
  host.programs.give('systemctl', ':');
  const errors: string[] = [];
  t.capture(process.stderr, 'write', (text: string) => errors.push(text) > 0);
  const run = async (...args: string[]) => {
    const printed: string[] = [];
    const code = await runBackup(host.paths, args, { write: (text) => void printed.push(text) });
    return { code, printed: printed.join(''), errors: errors.splice(0).join('') };
  };
  return { host, folder, run };
}

/** With which the host signs. */
function giveAuthority(host: TestHost): void {
  const { key } = authorityPaths('admin');
  host.write(key, textAt(key), 0o600);
}

t.test('sno-backup list', async (t) => {
  const { host, run } = await commandHost(t);
  host.write(`${BACKUPS}/20300101T000000Z/manifest.json`, '{}');
  host.write(`${BACKUPS}/20300101T000000Z.partial/x`, '');
  const { printed } = await run('list', '--json');
  t.match(JSON.parse(printed), {
    schemaVersion: 1,
    folder: BACKUPS,
    backups: [
      { name: '20300101T000000Z', state: 'damaged', problem: /manifest\.json/ },
      { name: NAME, at: '2030-01-02T03:04:05.000Z', state: 'complete', revision: 70 },
    ],
  });
  t.match((await run('list')).printed, new RegExp(`${NAME} +complete +1 MiB +70 +1\\.2\\.3\n`));
});

t.test('sno-backup create', async (t) => {
  const { host, run } = await commandHost(t);
  t.match(await run('create'), { code: 1, errors: /no backup was made.*journalctl -u sno-backup/ });
  const made = '20300103T000000Z';
  writeBackup(host.at(`/new/${made}`));
  host.programs.give(
    'systemctl',
    `[ "$1" = start ] && mv "$ROOT/new/${made}" "$ROOT${BACKUPS}"; exit 0`,
  );
  t.match(await run('create'), { code: 0, printed: `${made}\n` });
});

t.test('sno-backup create --to', async (t) => {
  const { host, run } = await commandHost(t);
  const { identity, recipient } = await ageKeys();
  const to = host.at('/media.age');
  const made = '20300103T000000Z';
  writeBackup(host.at(`/new/${made}`));
  chmodSync(host.at(`/new/${made}`), 0o700);
  host.programs.give(
    'systemctl',
    `[ "$1" = start ] && mv "$ROOT/new/${made}" "$ROOT${BACKUPS}"; exit 0`,
  );
  const refused = async (says: RegExp, ...more: string[]) => {
    t.match(await run('create', ...more), { code: 2, errors: says }, more.join(' '));
    t.same(host.programs.calls('systemctl'), [], 'before a backup is made');
  };
  const whole = ['--to', to, '--recipient', recipient];
  await refused(/render-input\.json/, ...whole);
  await saveRenderInput(host.paths, input);
  const digest = writePayload(host, '/var/lib/sno-agents/payload');
  await refused(/cannot sign a backup; expected \S+\/admin\/ca\.key/, ...whole);
  giveAuthority(host);
  await refused(/--to and --recipient belong together/, '--to', to);
  await refused(/--to and --recipient belong together/, '--recipient', recipient);
  await refused(/is not a recipient of age/, '--to', to, '--recipient', 'age1x');
  await refused(/the folder of .* cannot be used/, '--to', '/nowhere/x', '--recipient', recipient);
  host.write('/media.age', 'of another day');
  await refused(/media\.age exists/, ...whole);
  host.remove('/media.age');
  host.write('/etc/sno-agents/settings.json', '{"backupKeepCount":3}');
  host.write(laptopAdminCa, 'the authority of the first kubeconfig');
  host.write('/var/lib/kubelet/config.json', '{"auths":{}}', 0o600);

  const { recipient: another } = await ageKeys();
  const { code, printed } = await run('create', ...whole, '--recipient', another);
  t.equal(code, 0);
  t.match(printed, /^20300103T000000Z\n.*media\.age: 1 MiB, encrypted for 2 recipients\.\n/);
  t.match(printed, /does not have the\ncontents of persistent volumes/);
  const opening = { decrypter: decrypterFor(identity, 'key'), author: BY_HOST };
  const { header } = await readPortable(to, opening, {}, new AbortController().signal);
  t.match(header, {
    renderInput: { host: { hostname: 'edge-0' } },
    settings: { backupKeepCount: 3 },
    laptopAdminCa: 'the authority of the first kubeconfig',
    pullSecret: '{"auths":{}}',
    payload: { sha256: digest },
    manifest: { clusterId: cluster.clusterId },
  });
});

t.test('a backup that was changed since it was made does not leave the host', async (t) => {
  const { host, run } = await commandHost(t);
  const { recipient } = await ageKeys();
  await saveRenderInput(host.paths, input);
  writePayload(host, '/var/lib/sno-agents/payload');
  giveAuthority(host);
  const made = '20300103T000000Z';
  for (const [spoil, says] of [
    // Of the same size, which is all that the list of backups compares.
    ["printf 'b snapshot' > etcd-snapshot.db", /etcd-snapshot\.db: expected SHA-256/],
    [`printf 'the key of evil' > ${KEY_FILE}`, /ca\.key: expected SHA-256/],
    ['printf x > other', /other is not listed/],
  ] as const) {
    writeBackup(host.at(`/new/${made}`), { [KEY_FILE]: KEY });
    chmodSync(host.at(`/new/${made}`), 0o700);
    host.programs.give(
      'systemctl',
      `[ "$1" = start ] && mv "$ROOT/new/${made}" "$ROOT${BACKUPS}" && cd "$ROOT${BACKUPS}/${made}" && ${spoil}; exit 0`,
    );
    const to = host.at('/media.age');
    const { code, errors } = await run('create', '--to', to, '--recipient', recipient);
    t.equal(code, 2, spoil);
    t.match(errors, says, spoil);
    t.notOk(host.has('/media.age'), spoil);
    t.notOk(host.has('/media.age.partial'), spoil);
    const stopped = AbortSignal.abort(new Error('told to stop'));
    const exported = { target: to, encrypter: encrypterFor([recipient]) };
    const exporting = exportBackup(host.paths, made, exported, stopped);
    await t.rejects(exporting, { message: /^told to stop$/ });
    host.remove(`${BACKUPS}/${made}`);
  }
});

t.test('sno-backup restore --new-host wants to know who made the backup', async (t) => {
  const { host, run } = await commandHost(t);
  const { to, identity } = await portableBackup(t, undefined, undefined, 'unsigned');
  await saveRenderInput(host.paths, input);
  host.write('/etc/sno-agents/settings.json', '{"backupMinFreeMiB":0.001}');
  host.write(host.paths.record, '{}');
  host.write('/key.txt', identity, 0o600);
  host.write('/signer.json', JSON.stringify(SIGNER));
  const whole = ['--new-host', '--backup', to, '--identity', host.at('/key.txt')];
  const restore = (...more: string[]) => run('restore', ...whole, ...more);
  const before = readdirSync(host.at(BACKUPS));
  const refused = async (says: RegExp, ...more: string[]) => {
    t.match(await restore(...more), { code: 2, errors: says }, more.join(' '));
    t.strictSame(readdirSync(host.at(BACKUPS)), before, 'nothing of it is on the host');
  };
  await refused(/do not say who may have made the backup/, '--yes');
  await refused(
    /nothing shows that the host of .*found no signature/,
    '--yes',
    '--signer',
    host.at('/signer.json'),
  );
  await refused(
    /it is of the cluster 6f0c8f0e\S+, expected other/,
    '--yes',
    '--accept-unsigned',
    'other',
  );
  const accepted = ['--accept-unsigned', cluster.clusterId];
  t.match(await restore(...accepted), {
    code: 2,
    printed: /Nothing shows who made the backup\. Whoever did decides/,
    errors: /not confirmed/,
  });
  t.match(await restore(...accepted, '--keep-authorities', '--yes'), {
    code: 2,
    errors: /does not have all authorities/,
  });
  t.same(host.programs.calls('systemctl'), []);
  t.match(await restore(...accepted, '--yes', '--no-wait'), { code: 0 });
  t.same(host.programs.calls(), ['systemctl start --no-block sno-identity.service']);
});

t.test('sno-backup restore is of this host or of a lost one, not of half of each', async (t) => {
  const { host, run } = await commandHost(t);
  const file = host.at('/x');
  for (const options of [
    [],
    ...[
      ['--new-host'],
      ['--backup', file],
      ['--identity', file],
      ['--signer', file],
      ['--accept-unsigned', 'x'],
      ['--keep-authorities'],
    ].map((more) => ['--from', NAME, ...more]),
    ['--backup', file, '--identity', file, '--signer', file],
    ['--new-host', '--identity', file, '--signer', file],
    ['--new-host', '--backup', file, '--signer', file],
  ]) {
    const { code, errors } = await run('restore', ...options, '--yes');
    t.equal(code, 2, options.join(' '));
    t.match(errors, /do not say what is to be restored/, options.join(' '));
  }
});

t.test('what leaves a sealed host can be read on another one', async (t) => {
  const { host, run } = await commandHost(t);
  const { identity, recipient } = await ageKeys();
  const made = '20300103T000000Z';
  const key = Buffer.alloc(32, 7);
  host.write(sealPlaces(host.paths).key, key, 0o600);
  const folder = host.at(`/new/${made}`);
  const manifest = writeBackup(folder);
  chmodSync(folder, 0o700);
  const files = [...manifest.files];
  for (const path of [KEY_FILE, `host${ENCRYPTION}`]) {
    const stored = sealed(key, path.slice('host'.length), KEY);
    host.write(`/new/${made}/${path}`, stored, 0o600);
    const copy = { path, host: path.slice('host'.length), mode: 0o600, bytes: stored.length };
    files.push({ ...copy, sha256: sha256(stored) });
  }
  host.write(`/new/${made}/manifest.json`, JSON.stringify({ ...manifest, files }), 0o600);
  const move = `mv "$ROOT/new/${made}" "$ROOT${BACKUPS}"`;
  host.programs.give('systemctl', `[ "$1" = start ] && ${move}; exit 0`);
  await saveRenderInput(host.paths, input);
  writePayload(host, '/var/lib/sno-agents/payload');
  giveAuthority(host);
  const to = host.at('/media.age');
  t.match(await run('create', '--to', to, '--recipient', recipient), {
    code: 0,
    printed: /encrypted for one recipient\./,
  });
  const read = new Map<string, string>();
  const reader = {
    file: async ({ path }: { path: string }, contents: AsyncIterable<Buffer>) =>
      void read.set(path, await text(contents)),
  };
  const opening = { decrypter: decrypterFor(identity, 'key'), author: BY_HOST };
  await readPortable(to, opening, reader, new AbortController().signal);
  t.equal(read.get(KEY_FILE), KEY);
  t.equal(read.get(`host${ENCRYPTION}`), KEY, 'not only files with the name of a key');
});

t.test('sno-backup restore', async (t) => {
  const { host, run } = await commandHost(t);
  t.match(await run('restore', '--from', NAME), {
    code: 2,
    printed:
      /The backup \S+ of 2030-01-02T\S+ \(revision 70\) is complete\.\nEverything .* will be lost/,
    errors: /not confirmed.*--yes/,
  });
  t.equal(await restoreChange.read(host.paths), undefined);
  t.same(host.programs.calls('systemctl'), []);

  // The unit was stopped before its end.
  t.match(await run('restore', '--from', NAME, '--yes'), { code: 1, errors: /has not ended/ });
  t.equal((await restoreChange.read(host.paths))?.backup, NAME);
  t.same(host.programs.calls('systemctl start'), ['systemctl start sno-backup-restore.service']);
  t.match(await run('restore', '--from', '20300101T000000Z', '--yes'), {
    code: 2,
    errors: new RegExp(
      `another backup is under way: ${NAME}.*systemctl start sno-backup-restore\\.service`,
    ),
  });

  const failed = failureData(new Failure('deadline', 'the API is not ready'));
  const status = {
    ...{ schemaVersion: 1, agent: 'sno-backup-restore', version: '1', unit: 'sno-backup-restore' },
    ...{ state: 'failed', updated: '2020-01-01T00:00:00Z', failure: failed },
  };
  const statusFile = '/run/sno-agents/sno-backup-restore/status.json';
  host.write(statusFile, JSON.stringify(status));
  t.match(await run('restore', '--from', NAME), { code: 3, errors: /the API is not ready/ });
  const state = '/var/lib/sno-agents/sno-backup-restore';
  const end = `cd "$ROOT${state}" && [ "$1" = start ] && mv request.json result.json; exit 0`;
  host.programs.give('systemctl', end);
  host.remove(statusFile);
  t.match(await run('restore', '--from', NAME), {
    code: 0,
    printed: new RegExp(`^It also continues without this command.*\\n${NAME} is restored\\.\\n$`),
  });
  host.programs.give('systemctl', ':');
  await run('restore', '--from', `${BACKUPS}/${NAME}/`, '--yes');
  const failure = failureData(new Failure('deadline', 'it did not settle'));
  await recordFailure(restoreChange, host.paths, failure);
  host.programs.forgetCalls();
  await run('restore', '--from', NAME, '--no-wait');
  t.same(host.programs.calls(), ['systemctl start --no-block sno-backup-restore.service']);
  host.programs.give('systemctl', end);
  t.match(await run('restore', '--from', NAME), { code: 4, errors: /it did not settle/ });
});

t.test('neither a backup nor a restore during a rotation or another restore', async (t) => {
  const { host, run } = await commandHost(t);
  const refused = async (says: RegExp, ...args: string[]) => {
    t.match(await run(...args), { code: 2, printed: '', errors: says }, args.join(' '));
    t.same(host.programs.calls('systemctl'), []);
  };
  const rotation = /a rotation of CAs or keys is under way\. .*sno-rotate status/;
  host.write('/var/lib/sno-agents/sno-rotate/request.json', '{}');
  await refused(rotation, 'create');
  await refused(rotation, 'restore', '--from', NAME, '--yes');
  t.equal(await restoreChange.read(host.paths), undefined);
  host.remove('/var/lib/sno-agents/sno-rotate/request.json');
  host.write('/var/lib/sno-agents/sno-backup-restore/request.json', '{}');
  await refused(/a backup is being restored\. .*sno-backup-restore status/, 'create');
});

t.test('sno-backup restore changes nothing for a backup that cannot be used', async (t) => {
  const { host, folder, run } = await commandHost(t);
  appendFileSync(join(folder, 'etcd-snapshot.db'), 'x');
  const refused: [from: string, says: RegExp][] = [
    [NAME, /etcd-snapshot\.db: expected SHA-256/],
    ['20300109T000000Z', /does not exist/],
    [
      `/media/usb/${NAME}`,
      /is not a backup of this host.*Copy it to .*\/\.20300102T030405Z as root.*rename/,
    ],
  ];
  for (const [from, errors] of refused) {
    t.match(await run('restore', '--from', from, '--yes'), { code: 2, errors }, from);
  }
  t.equal(await restoreChange.read(host.paths), undefined);
  t.same(host.programs.calls('systemctl'), []);
});
