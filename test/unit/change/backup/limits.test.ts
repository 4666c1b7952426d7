/** How large the parts of a backup may be, to the byte, and how they are shown and stored. */
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import t, { type Test } from 'tap';
import { extract, type Pack } from 'tar-stream';
import { backupTable } from '../../../../agents/upkeep/backup/table.ts';
import { addText, tarOf } from '../../../../lib/base/archive/tar-writer.ts';
import { SIGNATURE_FILE } from '../../../../lib/change/backup/portable/author.ts';
import { HEADER_FILE } from '../../../../lib/change/backup/portable/header.ts';
import { readPortable } from '../../../../lib/change/backup/portable/read.ts';
import { archiveOf } from '../../../../lib/change/backup/portable/write.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';
import { BY_HOST, filesIn, KEY, KEY_FILE, portableBackup, SIGNS } from './portable-backup.ts';

const MIB = 2 ** 20;
const { signal } = new AbortController();

/** Reads an archive in the clear with a right header, filled up to that size, and what else `fill` puts into it. */
async function readingArchive(
  t: Test,
  headerBytes: number,
  fill: (tar: Pack, header: string) => void,
) {
  const { header } = await portableBackup(t);
  const text = JSON.stringify(header).padEnd(headerBytes);
  const archive = tarOf(async (tar) => {
    addText(tar, HEADER_FILE, text);
    fill(tar, text);
  });
  const path = join(t.testdir(), 'backup.tar');
  await pipeline(archive, createWriteStream(path));
  return readPortable(path, { decrypter: undefined, author: BY_HOST }, {}, signal);
}

/** Such a one whose signature is filled up, too. */
const reading = (t: Test, headerBytes: number, signatureBytes: number) =>
  readingArchive(t, headerBytes, (tar, text) => {
    addText(tar, SIGNATURE_FILE, SIGNS(text).padEnd(signatureBytes, '\n'));
    addText(tar, 'etcd-snapshot.db', 'a snapshot');
    addText(tar, KEY_FILE, KEY);
  });

t.test('a header has at most 4 MiB, a signature 4096 bytes', async (t) => {
  t.match(await reading(t, 4 * MIB, 4096), { isSigned: true });
  for (const [header, signature, says] of [
    [
      4 * MIB + 1,
      4096,
      /expected backup\.json with at most 4194304 bytes, found "backup\.json" with 4194305/,
    ],
    [4 * MIB, 4097, /with at most 4096 bytes, found \S+ with 4097/],
  ] as const) {
    t.match(await thrownBy(reading(t, header, signature)), {
      code: 'backup-unusable',
      message: says,
    });
  }
});

t.test('each file of the manifest is in it, as a file', async (t) => {
  const signature = (tar: Pack, text: string) => addText(tar, SIGNATURE_FILE, SIGNS(text));
  const database = (tar: Pack) => addText(tar, 'etcd-snapshot.db', 'a snapshot');
  const reserved = (tar: Pack) => tar.entry({ name: KEY_FILE, type: 'contiguous-file' }, KEY);
  for (const [parts, says] of [
    [[], /it has no files/],
    [[signature], /etcd-snapshot\.db is missing/],
    [[signature, database], /ca\.key is missing/],
    [[signature, database, reserved], /ca\.key is not the next file of the manifest/],
  ] as const) {
    const fill = (tar: Pack, text: string) => {
      for (const part of parts) part(tar, text);
    };
    t.match(await thrownBy(readingArchive(t, 0, fill)), { code: 'backup-unusable', message: says });
  }
});

t.test('a key has at most 1 MiB', async (t) => {
  const most = 'x'.repeat(MIB);
  const { to, opening } = await portableBackup(t, undefined, { [KEY_FILE]: most });
  t.ok(await readPortable(to, opening, {}, signal));
  const more = await portableBackup(t, undefined, { [KEY_FILE]: `${most}x` });
  t.match(await thrownBy(readPortable(more.to, more.opening, {}, signal)), {
    message: /at most 1048576 bytes/,
  });
});

t.test('what a manifest says is cut in an error', async (t) => {
  const { to, opening } = await portableBackup(t, ({ manifest, ...rest }) => {
    const [database, key] = manifest.files;
    if (database === undefined || key === undefined) throw new Error('two files');
    const files = [database, { ...key, path: 'x'.repeat(1000) }];
    return { ...rest, manifest: { ...manifest, files } };
  });
  const error = await thrownBy(readPortable(to, opening, {}, signal));
  const [shown = ''] = /found \{"path":"x+/.exec(String(error)) ?? [];
  t.equal(shown.length, 'found '.length + 200);
});

t.test('whoever unpacks it by hand has files for root alone', async (t) => {
  const { header, folder } = await portableBackup(t);
  const modes: [name: string, mode: number | undefined][] = [];
  const entries = extract();
  const archive = archiveOf(
    { ...header, manifest: { ...header.manifest } },
    (file) => (file.path === KEY_FILE ? Buffer.from(KEY) : filesIn(folder)(file)),
    SIGNS,
    signal,
  );
  archive.pipe(entries);
  for await (const entry of entries) {
    modes.push([entry.header.name, entry.header.mode]);
    entry.resume();
  }
  t.strictSame(modes, [
    [HEADER_FILE, 0o600],
    [SIGNATURE_FILE, 0o600],
    ['etcd-snapshot.db', 0o600],
    [KEY_FILE, 0o600],
  ]);
});

t.test('the list shows whole MiB, what is known of each, and why one is damaged', async (t) => {
  const at = '2030-01-02T03:04:05.000Z';
  const list = (backups: Parameters<typeof backupTable>[0]['backups']) =>
    backupTable({ schemaVersion: 1, hostname: 'edge-0', at, folder: '/backups', backups });
  t.equal(list([]), 'no backup in /backups\n');
  const text = list([
    { name: 'a', at, state: 'complete', bytes: MIB, revision: 70, version: '1.2.3' },
    { name: 'b', at, state: 'complete', bytes: MIB + 1, revision: 0, version: '1.2.3' },
    { name: 'c', at, state: 'damaged', bytes: 0, problem: 'no manifest' },
    { name: 'd', at, state: 'damaged', bytes: 0 },
  ]);
  t.strictSame(
    text.split('\n').map((line) => line.split(/ {2,}/)),
    [
      ['NAME', 'STATE', 'SIZE', 'REVISION', 'VERSION'],
      ['a', 'complete', '1 MiB', '70', '1.2.3'],
      ['b', 'complete', '2 MiB', '0', '1.2.3'],
      ['c', 'damaged', '0 MiB', '-', 'no manifest'],
      ['d', 'damaged', '0 MiB', '-', '-'],
      [''],
    ],
  );
});
