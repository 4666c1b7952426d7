/** Sticks as people have them: without the label, formatted in another way, with a folder too many, pulled out too early. */
import t from 'tap';
import { arrive } from '../../../../agents/reconfigure/arrive.ts';
import { tellLast } from '../../../../agents/reconfigure/tell-medium.ts';
import { endedAs } from '../../../../lib/change/ending.ts';
import { siteChange } from '../../../../lib/change/site/request.ts';
import { readStickNotes } from '../../../../lib/engine/console/stick-notes.ts';
import { copyMedium } from '../../../../lib/host/media/read-unprivileged.ts';
import { VOLUME_LIMITS } from '../../../../lib/relocation/site-volume/volume.ts';
import type { TestHost } from '../host/host.ts';
import { factoryHost, insert, SITE } from './site-host.ts';

const look = (host: TestHost) => arrive(host.paths, AbortSignal.timeout(60_000));
const USB = { tran: 'usb', mountpoint: null };
const unlabelled = (host: TestHost, stick: Readonly<Record<string, unknown>> = USB) =>
  insert(host, { config: SITE }, { labels: [null], stick });
const reads = (host: TestHost) =>
  host.programs.calls('systemd-run').filter((line) => line.includes('read-medium'));
/** The reader passes on the files of another folder of the host. */
const passOn = (folder: string) => `cd "$ROOT/${folder}" && tar -cf - *`;

t.test('a stick without the label is as good', async (t) => {
  const host = await factoryHost(t);
  await unlabelled(host);
  t.match(await look(host), { kind: 'request', request: { volume: { serial: 7 } } });
});

t.test('what is no stick of a person is not read', async (t) => {
  for (const stick of [
    { tran: 'sata' },
    { tran: null },
    { ...USB, mountpoint: '/' },
    { ...USB, fstype: null },
    { ...USB, fstype: 'crypto_LUKS' },
    { ...USB, fstype: 'LVM2_member' },
    { ...USB, fstype: 'swap' },
    // Of nobody's stick: nothing is said, either.
    { ...USB, fstype: 'xfs' },
    { ...USB, fstype: 'constructor' },
  ]) {
    const host = await factoryHost(t);
    await unlabelled(host, stick);
    t.same(await look(host), { kind: 'nothing', note: 'no site volume is inserted' });
    t.same(reads(host), [], JSON.stringify(stick));
  }
});

t.test('a stick of which another partition is mounted is not read', async (t) => {
  const host = await factoryHost(t);
  await unlabelled(host);
  const disk = { path: '/dev/sdb', kname: 'sdb', pkname: null, fstype: null, label: null };
  const part = (at: number, mountpoint: string | null) => ({
    ...{ path: `/dev/sdb${at}`, kname: `sdb${at}`, pkname: 'sdb', fstype: 'vfat', label: null },
    ...{ tran: null, mountpoint },
  });
  const found = (...devices: object[]) => {
    host.write('/dev/sdb1');
    const text = JSON.stringify({ blockdevices: [{ ...disk, tran: 'usb' }, ...devices] });
    host.programs.give('lsblk', `cat <<'END'\n${text}\nEND`);
  };
  found(part(1, null), part(2, '/data'));
  t.match(await look(host), { kind: 'nothing' });
  t.same(reads(host), []);
  const inLuks = { ...part(3, '/'), path: '/dev/mapper/x', kname: 'dm-0', pkname: 'sdb2' };
  found(part(1, null), { ...part(2, null), fstype: 'crypto_LUKS' }, inLuks);
  t.match(await look(host), { kind: 'nothing' });
  t.same(reads(host), [], 'also by way of LUKS');
  found(part(1, null));
  t.match(await look(host), { kind: 'request' }, 'its transport is that of the disk');
});

t.test('one that cannot be read says how it has to be formatted', async (t) => {
  for (const [fstype, name] of [
    ['exfat', 'exFAT'],
    ['ntfs', 'NTFS'],
  ]) {
    const host = await factoryHost(t);
    await unlabelled(host, { ...USB, fstype });
    const words = `stick in /dev/sdb is formatted as ${name}, .*to a stick that is formatted as FAT32`;
    const note = new RegExp(`^no site volume is inserted\nThe ${words}`);
    t.match(await look(host), { kind: 'nothing', note });
    await insert(host, { config: SITE }, { labels: ['SITE-CONFIG'], stick: { ...USB, fstype } });
    await t.rejects(look(host), { kind: 'usage', message: new RegExp(`^the ${words}`) });
    t.same(reads(host), []);
  }
});

t.test('a folder too many is named, with and without the label', async (t) => {
  for (const labels of [['SITE-CONFIG'], [null]]) {
    const host = await factoryHost(t);
    await insert(host, { config: SITE }, { labels, stick: USB });
    host.programs.give(
      'fake-reader',
      `cd "$ROOT" && tar -cf - --transform 's,^medium,site-0042,' medium/*`,
    );
    const says =
      /folder.*Move everything that is in the folder site-0042 to the top level of the stick/;
    if (labels[0] === null) {
      t.match(await look(host), { kind: 'nothing', note: says });
      t.same(
        await readStickNotes(host.paths),
        [
          'The stick in /dev/sdb: the files of the volume are in a folder of the stick. Move everything that is in the folder site-0042 to the top level of the stick, and insert it again.',
        ],
        'whoever stands before the screen needs no more',
      );
    } else await t.rejects(look(host), { kind: 'usage', message: says });
    t.equal(await siteChange.read(host.paths), undefined);
  }
});

t.test('one that was pulled out while it was read', async (t) => {
  const pulled = `printf '#!/bin/sh\\necho "{\\"blockdevices\\":[]}"\\n' > "$(command -v lsblk)"`;
  const exchanged = 'echo 9 > "$ROOT/sys/class/block/sdb/diskseq"';
  for (const [labels, pull] of [
    [['SITE-CONFIG'], pulled],
    [['SITE-CONFIG'], exchanged],
    [[null], pulled],
  ] as const) {
    const host = await factoryHost(t);
    await insert(host, { config: SITE }, { labels: [...labels], stick: USB });
    host.programs.give('fake-reader', `${pull}; echo "an I/O error" >&2; exit 1`);
    const says = /pulled out before it was read.*Insert it again/;
    if (labels[0] === null) t.match(await look(host), { kind: 'nothing', note: says });
    else await t.rejects(look(host), { kind: 'usage', message: says });
  }
});

t.test('a stick with something else is no error, and is named', async (t) => {
  const host = await factoryHost(t);
  await unlabelled(host);
  host.write('/photos/1.jpg', 'x');
  host.programs.give('fake-reader', passOn('photos'));
  t.match(await look(host), {
    kind: 'nothing',
    note: /The stick in \/dev\/sdb: the volume has no site-volume\.json/,
  });
  host.programs.give('fake-reader', 'echo "found more than 64 files" >&2; exit 2');
  t.match(await look(host), {
    kind: 'nothing',
    note: /The stick in \/dev\/sdb cannot be read as a site volume: found more than 64 files/,
  });
  t.same(await readStickNotes(host.paths), [
    'The stick in /dev/sdb cannot be read as a site volume. Copy the files of the site volume to an empty stick, and insert that one.',
  ]);
});

t.test('one that takes too long is not called damaged', async (t) => {
  const host = await factoryHost(t);
  await unlabelled(host);
  const never = 'case "$*" in *" -- stat "*) echo 6 ;; *) exec sleep 60 ;; esac';
  host.programs.give('systemd-run', never);
  const medium = {
    device: '/dev/sdb',
    fileSystem: 'vfat',
    label: '',
    inserted: '',
    isReadOnly: true,
  };
  const time = { signal: AbortSignal.timeout(60_000), deadlineMs: 2_000 };
  await t.rejects(copyMedium(host.paths, medium, host.at('/copy'), VOLUME_LIMITS, time), {
    code: 'medium-refused',
    message: /it took longer than 2 s to read it/,
  });
});

t.test("once the host has its site, a stick is somebody's own", async (t) => {
  const host = await factoryHost(t);
  await unlabelled(host);
  host.remove('/etc/sno-agents/sealed');
  t.same(await look(host), { kind: 'nothing', note: 'no site volume is inserted' });
  t.same(reads(host), []);
  await insert(host);
  t.match(await look(host), { kind: 'request' }, 'with the label it is taken');
});

t.test('one that is inserted while another is read is not missed', async (t) => {
  const host = await factoryHost(t);
  await insert(host, { config: SITE }, { labels: [null, null], stick: USB });
  host.write('/photos/1.jpg', 'x');
  const stick = (kname: string) => ({
    ...{ path: `/dev/${kname}`, kname, pkname: null, fstype: 'vfat', label: null, ...USB },
  });
  const list = (...names: string[]) => JSON.stringify({ blockdevices: names.map(stick) });
  host.programs.give(
    'lsblk',
    `if [ -e "$ROOT/second" ]; then echo '${list('sdb', 'sdc')}'; else echo '${list('sdb')}'; fi`,
  );
  host.programs.give(
    'systemd-run',
    `case "$*" in
*" -- stat "*) echo 6 ;;
*" read-medium "*/dev/sdc) ${passOn('medium')} ;;
*" read-medium "*) touch "$ROOT/second"; ${passOn('photos')} ;;
esac`,
  );
  t.match(await look(host), { kind: 'request', request: { volume: { serial: 7 } } });
});

t.test('of two sticks, the one with the volume counts', async (t) => {
  for (const which of ['sdb', 'sdc']) {
    const host = await factoryHost(t);
    await insert(host, { config: SITE }, { labels: [null, null], stick: USB });
    host.write('/photos/1.jpg', 'x');
    host.programs.give(
      'systemd-run',
      `case "$*" in
*" -- stat "*) echo 6 ;;
*" read-medium "*/dev/${which}) ${passOn('medium')} ;;
*" read-medium "*) ${passOn('photos')} ;;
*) while [ "$1" != -- ]; do shift; done; shift; exec "$@" ;;
esac`,
    );
    t.match(await look(host), { kind: 'request', request: { volume: { serial: 7 } } }, which);
  }
  const host = await factoryHost(t);
  await insert(host, { config: SITE }, { labels: [null, null], stick: USB });
  await t.rejects(look(host), {
    kind: 'usage',
    message: /more than one site volume.*a volume in \/dev\/sdb, a volume in \/dev\/sdc/,
  });
});

t.test('of many sticks, three are read: a person waits for all of them', async (t) => {
  const host = await factoryHost(t);
  await insert(host, { config: SITE }, { labels: [null, null, null, null], stick: USB });
  host.write('/photos/1.jpg', 'x');
  host.programs.give('fake-reader', passOn('photos'));
  t.match(await look(host), { kind: 'nothing', note: /sdb.*sdc.*sdd/s });
  t.equal(reads(host).length, 3);
});

t.test('a label decides: other sticks are not read', async (t) => {
  const host = await factoryHost(t);
  await insert(host, { config: SITE }, { labels: ['SITE-CONFIG', null], stick: USB });
  t.match(await look(host), { kind: 'request' });
  t.equal(reads(host).filter((line) => line.endsWith('/dev/sdc')).length, 0);
});

t.test('a stick without the label is told how it went', async (t) => {
  const host = await factoryHost(t);
  await unlabelled(host);
  await look(host);
  await siteChange.end(host.paths, endedAs({ outcome: 'configured', failure: undefined }));
  t.equal(await tellLast(host.paths), undefined);
  t.match(host.read('/written.json'), /PASS: the node has the configuration of its site/);
});

t.test('what else is connected keeps nobody from being told', async (t) => {
  const host = await factoryHost(t);
  await insert(host, { config: SITE }, { labels: [null, null, null, null], stick: USB });
  host.programs.give(
    'systemd-run',
    `case "$*" in
*" -- stat "*) echo 6 ;;
*" read-medium "*/dev/sdc) ${passOn('medium')} ;;
*" read-medium "*) exit 1 ;;
*" write-medium "*) exec fake-writer ;;
esac`,
  );
  t.match(await look(host), { kind: 'request' });
  await siteChange.end(host.paths, endedAs({ outcome: 'configured', failure: undefined }));
  t.equal(await tellLast(host.paths), undefined);
  t.match(host.read('/written.json'), /PASS/);
  host.programs.give('systemd-run', 'case "$*" in *" -- stat "*) echo 6 ;; *) exit 1 ;; esac');
  const before = reads(host).length;
  t.equal(await tellLast(host.paths), undefined);
  t.equal(reads(host).length - before, 3, 'no more are read than are looked at for a volume');
});

t.test('without a result, no stick is read to be told one', async (t) => {
  const host = await factoryHost(t);
  await unlabelled(host);
  t.equal(await tellLast(host.paths), undefined);
  t.same(reads(host), []);
});
