import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import {
  contentsOf,
  filesOnDisk,
  isDiskFileSystem,
  openRegularFile,
  type Walk,
} from '../../../lib/secrets/scan/walk.ts';

/** Kept over a boot; other folders of tests may be in memory. */
const DISK = '/var/tmp';

function folderOf(t: Test, files: readonly string[], parent = tmpdir()): string {
  const folder = mkdtempSync(join(parent, 'walk-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  // For the unprivileged part below.
  chmodSync(folder, 0o755);
  for (const file of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), file);
  }
  return folder;
}

async function filesOf(root: string, walk: Partial<Walk> = {}): Promise<string[]> {
  const all: Walk = {
    root,
    folders: [root],
    exempt: () => false,
    oneDevice: () => false,
    ...walk,
  };
  const paths: string[] = [];
  for await (const path of filesOnDisk(all)) paths.push(path);
  return paths.map((path) => path.slice(root.length + 1)).sort();
}

/** Without root's privilege to read everything. */
async function asNobody(act: () => Promise<void>): Promise<void> {
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) process.seteuid?.(65534);
  try {
    await act();
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
}

t.test('file systems on a disk, by the magic numbers of statfs(2)', async (t) => {
  const disks = {
    ext4: 0xef53,
    xfs: 0x58465342,
    btrfs: 0x9123683e,
    f2fs: 0xf2f52010,
    vfat: 0x4d44,
    exfat: 0x2011bab0,
  };
  for (const [name, magic] of Object.entries(disks)) t.ok(isDiskFileSystem(magic), name);
  const others = {
    tmpfs: 0x01021994,
    proc: 0x9fa0,
    sysfs: 0x62656572,
    overlay: 0x794c7630,
    nfs: 0x6969,
    cifs: 0xff534d42,
    fuse: 0x65735546,
    squashfs: 0x73717368,
  };
  for (const [name, magic] of Object.entries(others)) t.notOk(isDiskFileSystem(magic), name);
});

t.test('regular files of all folders, at any depth', async (t) => {
  const folder = folderOf(t, ['a', 'b/c', 'b/d/e', 'f/g']);
  execFileSync('mkfifo', [join(folder, 'b/fifo')]);
  t.strictSame(await filesOf(folder), ['a', 'b/c', 'b/d/e', 'f/g']);
  const folders = [join(folder, 'b'), join(folder, 'none'), join(folder, 'a')];
  t.strictSame(await filesOf(folder, { folders }), ['b/c', 'b/d/e'], 'folders only');
});

t.test('exempt are files, whole folders, and start folders', async (t) => {
  const folder = folderOf(t, ['a', 'b/c', 'b/d/e', 'f/g']);
  const exempt = (path: string) => path === join(folder, 'b') || path === join(folder, 'f/g');
  t.strictSame(await filesOf(folder, { exempt }), ['a']);
  t.strictSame(await filesOf(folder, { exempt, folders: [join(folder, 'b')] }), []);
});

t.test('links are not followed', async (t) => {
  const outside = folderOf(t, ['key', 'folder/key']);
  const folder = folderOf(t, ['a']);
  symlinkSync(join(outside, 'key'), join(folder, 'file'));
  symlinkSync(join(outside, 'folder'), join(folder, 'folder'));
  t.strictSame(await filesOf(folder), ['a']);
  t.strictSame(await filesOf(folder, { folders: [join(folder, 'folder')] }), []);
  t.equal(await openRegularFile(join(folder, 'file')), undefined);
});

const memory = '/dev/shm';
const deviceOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.dev;
const skip =
  deviceOf(memory) === undefined || deviceOf(memory) === deviceOf('/dev')
    ? '/dev/shm is not on a device of its own'
    : false;

t.test('other devices', { skip }, async (t) => {
  const folder = folderOf(t, ['a'], memory);
  const file = join(folder, 'a').slice('/dev/'.length);
  const walk = (options: Partial<Walk>) =>
    filesOf('/dev', {
      exempt: (path) => path !== '/dev' && path !== memory && !path.startsWith(folder),
      isOnDisk: async () => true,
      ...options,
    });
  t.strictSame(await walk({}), [file], 'another disk is searched');
  t.strictSame(await walk({ isOnDisk: async () => false }), [], 'what is no disk is not');
  const asked: string[] = [];
  const oneDevice = (path: string) => {
    asked.push(path);
    return true;
  };
  t.strictSame(await walk({ oneDevice }), [], 'nor where one device is all that counts');
  t.strictSame(asked, [memory]);
  const begun = { oneDevice: () => true, folders: [memory] };
  t.strictSame(await walk(begun), [file], 'a folder to begin at is in no other');
  t.strictSame(await filesOf(folder), ['a'], 'the device of the root counts in any case');
  t.strictSame(
    await filesOf(DISK, { folders: [memory], exempt: (path) => !path.startsWith(memory) }),
    deviceOf(DISK) === deviceOf(memory) ? [file] : [],
    'memory is no disk',
  );
});

t.test('what cannot be read is an error, not a file that no longer exists', async (t) => {
  const folder = folderOf(t, ['locked/key', 'file']);
  chmodSync(join(folder, 'locked'), 0o000);
  chmodSync(join(folder, 'file'), 0o000);
  await asNobody(async () => {
    await t.rejects(filesOf(folder), { code: 'EACCES' });
    await t.rejects(openRegularFile(join(folder, 'file')), { code: 'EACCES' });
    await t.rejects(openRegularFile(join(folder, 'locked/key')), { code: 'EACCES' });
  });
  chmodSync(join(folder, 'locked'), 0o755);
  await t.rejects(filesOf(folder, { folders: [join(folder, 'x'.repeat(300))] }), {
    code: 'ENAMETOOLONG',
  });
});

t.test('only regular files are opened', async (t) => {
  const folder = folderOf(t, ['a', 'b/c']);
  execFileSync('mkfifo', [join(folder, 'fifo')]);
  for (const name of ['b', 'fifo', 'none', 'a/none']) {
    t.equal(await openRegularFile(join(folder, name)), undefined, name);
  }
  const file = await openRegularFile(join(folder, 'a'));
  t.equal(file?.status.size, 1);
  await file?.handle.close();
});

t.test('contents up to a size, in the same memory', async (t) => {
  const folder = folderOf(t, []);
  writeFileSync(join(folder, 'a'), '0123456789');
  const file = await openRegularFile(join(folder, 'a'));
  if (file === undefined) throw new Error('the file was not opened');
  t.teardown(() => file.handle.close());
  const read = async (size: number) => {
    const pieces: string[] = [];
    for await (const piece of contentsOf(file.handle, size, Buffer.alloc(4))) {
      pieces.push(piece.toString());
    }
    return pieces;
  };
  t.strictSame(await read(10), ['0123', '4567', '89']);
  t.strictSame(await read(6), ['0123', '45'], 'what was added later is left out');
  t.strictSame(await read(99), ['0123', '4567', '89'], 'a file that became shorter');
});
