/** Which backups make room for the next one, to the byte. */
import { readdirSync } from 'node:fs';
import t, { type Test } from 'tap';
import { limitsOf, makeRoom, requireRoom } from '../../../../lib/change/backup/room.ts';
import { testHost } from '../../agents/host/host.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';
import { diskOf } from '../../host/disk-of.ts';
import { writeBackup } from './backup-folder.ts';

const FOLDER = '/var/lib/sno-agents/backups';
const [OLDEST, OLDER, NEWEST] = ['20300101T000000Z', '20300102T000000Z', '20300103T000000Z'];
const MIB = 2 ** 20;
const EACH = 'a snapshot'.length;
/** The backup to come, and what has to stay free beside it. */
const BYTES = 50 * MIB;
const NEEDED = BYTES + 7 * MIB;

/** A host with three backups, and a disk of 100 MiB of which that much is free. */
function diskWith(t: Test, free: number) {
  const host = testHost(t, {
    settings: {
      backupDiskSharePercent: 50,
      backupMinFreeMiB: 7,
      backupKeepCount: 9,
      backupKeepDays: 3,
    },
  });
  for (const name of [OLDEST, OLDER, NEWEST]) writeBackup(host.at(`${FOLDER}/${name}`));
  diskOf(t, () => ({ size: 100 * MIB, free }));
  return {
    host,
    make: (bytes: number) => makeRoom(host.paths, host.context.settings, bytes),
    left: () => readdirSync(host.at(FOLDER)),
  };
}

t.test('no more are deleted than it takes, the oldest first', async (t) => {
  for (const [missing, left] of [
    [0, [OLDEST, OLDER, NEWEST]],
    [1, [OLDER, NEWEST]],
    [EACH, [OLDER, NEWEST]],
    [EACH + 1, [NEWEST]],
    [2 * EACH, [NEWEST]],
  ] as const) {
    t.test(`${missing} bytes are missing`, async (t) => {
      const it = diskWith(t, NEEDED - missing);
      await it.make(BYTES);
      t.strictSame(it.left(), left);
    });
  }
});

t.test('if all but the newest are not enough, all stay', async (t) => {
  const it = diskWith(t, NEEDED - 2 * EACH - 1);
  t.match(await thrownBy(it.make(BYTES)), {
    kind: 'fatal',
    code: 'backup-no-space',
    message: /expected 57 MiB, of which 7 MiB stay free; found 57 MiB free/,
  });
  t.strictSame(it.left(), [OLDEST, OLDER, NEWEST]);
});

t.test('a backup may have the whole share of the disk, and no more', async (t) => {
  const it = diskWith(t, 90 * MIB);
  await it.make(50 * MIB);
  t.match(await thrownBy(it.make(50 * MIB + 1)), {
    code: 'backup-no-space',
    message: /expected at most 50 MiB, 50 % of the disk; found 51 MiB/,
  });
  t.strictSame(it.left(), [OLDEST, OLDER, NEWEST]);
  t.strictSame(await limitsOf(it.host.paths, it.host.context.settings), {
    count: 9,
    ageMs: 3 * 86_400_000,
    bytes: 50 * MIB,
  });
});

t.test('the first backup makes the folder, for root alone', async (t) => {
  const it = diskWith(t, NEEDED);
  it.host.remove(FOLDER);
  await it.make(BYTES);
  t.equal(it.host.mode(FOLDER), 0o700);
});

t.test('an encrypted copy leaves as much free as a backup, and deletes none for it', async (t) => {
  const it = diskWith(t, NEEDED);
  const { settings } = it.host.context;
  await requireRoom(it.host.paths, settings, BYTES);
  t.match(await thrownBy(requireRoom(it.host.paths, settings, BYTES + 1)), {
    kind: 'fatal',
    code: 'backup-no-space',
    message: /expected 58 MiB, of which 7 MiB stay free; found 57 MiB free/,
  });
  t.strictSame(it.left(), [OLDEST, OLDER, NEWEST]);
});
