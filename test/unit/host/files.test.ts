import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  constants,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import fsp, { type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import {
  exists,
  namesIn,
  readTextIfPresent,
  removeFile,
  sha256,
  sha256OfFile,
  syncDirectory,
  writeFileAtomic,
  writeFilesAtomic,
} from '../../../lib/host/files.ts';
import { captureBuiltins } from './builtins.ts';
import { recordFileOperations } from './file-operations.ts';

const never = new AbortController().signal;
const modeOf = (path: string) => statSync(path).mode & 0o7777;

t.test('a file is written completely, with its mode', async (t) => {
  const folder = t.testdir();
  const umask = process.umask(0o077);
  t.teardown(() => process.umask(umask));
  for (const [name, mode] of [
    ['a', 0o600],
    ['b', 0o644],
    ['deep/er/c', 0o755],
  ] as const) {
    const path = join(folder, name);
    await writeFileAtomic(path, 'one', mode);
    t.equal(modeOf(path), mode, 'whatever the umask');
    await writeFileAtomic(path, new Uint8Array([0x32]), 0o640);
    t.equal(readFileSync(path, 'utf8'), '2');
    t.equal(modeOf(path), 0o640, 'of the new contents');
  }
  t.strictSame(readdirSync(folder).sort(), ['a', 'b', 'deep']);
  process.umask(0);
  await writeFileAtomic(join(folder, 'public/file'), '', 0o666);
  t.equal(modeOf(join(folder, 'public')), 0o755, 'nobody else may add files');
});

t.test('a secret is never readable by others, and is synced before it gets its name', async (t) => {
  const folder = t.testdir();
  const path = join(folder, 'key');
  const umask = process.umask(0);
  t.teardown(() => process.umask(umask));
  const probe = await fsp.open(folder);
  const prototype: FileHandle = Object.getPrototypeOf(probe);
  await probe.close();
  const seen: string[] = [];
  const { open } = fsp;
  const { writeFile, sync } = prototype;
  const modeOf = async (file: FileHandle) => ((await file.stat()).mode & 0o777).toString(8);
  captureBuiltins(t, () => {
    t.capture(fsp, 'open', async (path: string, flags: number, mode?: number) => {
      const file = await open(path, flags, mode);
      if ((flags & constants.O_EXCL) !== 0) seen.push(`created ${await modeOf(file)}`);
      return file;
    });
    t.capture(prototype, 'writeFile', async function (this: FileHandle, contents: string) {
      seen.push(`write ${await modeOf(this)}`);
      await writeFile.call(this, contents);
    });
    t.capture(prototype, 'sync', async function (this: FileHandle) {
      const { size, mode } = await this.stat();
      const isFolder = (mode & 0o040000) !== 0;
      seen.push(`sync ${isFolder ? 'folder' : `${size} bytes`}, named: ${await exists(path)}`);
      await sync.call(this);
    });
  });
  await writeFileAtomic(path, 'hunter2', 0o600);
  t.strictSame(seen, [
    'created 600',
    'write 600',
    'sync 7 bytes, named: false',
    'sync folder, named: true',
  ]);
});

t.test('a link at the target is replaced, not followed', async (t) => {
  const folder = t.testdir({ victim: 'untouched' });
  const path = join(folder, 'link');
  symlinkSync(join(folder, 'victim'), path);
  await writeFileAtomic(path, 'new', 0o600);
  t.ok(lstatSync(path).isFile());
  t.equal(readFileSync(join(folder, 'victim'), 'utf8'), 'untouched');
  t.equal(readFileSync(path, 'utf8'), 'new');
});

t.test('a failure leaves no temporary file, and keeps the existing one', async (t) => {
  await t.test('the target is a folder', async (t) => {
    const folder = t.testdir({ target: { file: '' } });
    await t.rejects(writeFileAtomic(join(folder, 'target'), 'x', 0o600), { code: 'EISDIR' });
    t.strictSame(readdirSync(folder), ['target']);
  });
  await t.test('the folder is a file', async (t) => {
    const folder = t.testdir({ file: 'x' });
    await t.rejects(writeFileAtomic(join(folder, 'file/new'), 'x', 0o600));
    t.strictSame(readdirSync(folder), ['file']);
  });
  await t.test('the disk is full', async (t) => {
    const folder = join(t.testdir({ disk: {} }), 'disk');
    if (!mountTmpfs(folder)) {
      t.pass('the disk is full', { skip: 'no tmpfs can be mounted here' });
      return;
    }
    try {
      const path = join(folder, 'file');
      await writeFileAtomic(path, 'before', 0o600);
      await t.rejects(writeFileAtomic(path, 'x'.repeat(1 << 20), 0o600), { code: 'ENOSPC' });
      t.strictSame(readdirSync(folder), ['file']);
      t.equal(readFileSync(path, 'utf8'), 'before');
    } finally {
      execFileSync('umount', [folder], { timeout: 5000 });
    }
  });
});

function mountTmpfs(folder: string): boolean {
  try {
    const args = ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder];
    execFileSync('mount', args, { stdio: 'ignore', timeout: 5000 });
    return true;
  } catch {
    return false;
  }
}

t.test('reading, testing, removing', async (t) => {
  const folder = t.testdir({ file: 'text' });
  const file = join(folder, 'file');
  symlinkSync('nowhere', join(folder, 'dangling'));
  mkdirSync(join(folder, 'sub'));
  t.equal(await readTextIfPresent(file), 'text');
  t.equal(await readTextIfPresent(join(folder, 'none')), undefined);
  t.equal(await readTextIfPresent(join(file, 'below')), undefined);
  await t.rejects(readTextIfPresent(folder), { code: 'EISDIR' });
  t.equal(await exists(join(folder, 'dangling')), true, 'a link is there, wherever it leads');
  t.equal(await exists(join(folder, 'none')), false);
  t.equal(await removeFile(join(folder, 'dangling')), true);
  t.equal(await removeFile(file), true);
  t.equal(await removeFile(file), false);
  t.strictSame(readdirSync(folder), ['sub']);
});

t.test('a removal is durable, the temporary name is hidden', async (t) => {
  const folder = t.testdir({ file: 'text' });
  const files = await recordFileOperations(t, folder);
  await removeFile(join(folder, 'file'));
  t.strictSame(files.seen, ['rm file', 'sync .']);
  files.seen.length = 0;
  await writeFileAtomic(join(folder, 'pod.yaml'), 'x', 0o600);
  t.match(files.seen[0], /^sync \.pod\.yaml\.[0-9a-f]{8}\.new$/);
  t.strictSame(files.seen.slice(2), ['sync .']);
  files.failAt(/^sync \.pod/, new Error('EIO'));
  await t.rejects(writeFileAtomic(join(folder, 'pod.yaml'), 'y', 0o600), /EIO/);
  t.strictSame(readdirSync(folder), ['pod.yaml']);
});

t.test('several files are renamed in their order, once all are synced', async (t) => {
  const folder = t.testdir({ cert: 'old', key: 'old' });
  const operations = await recordFileOperations(t, folder);
  const files = ['key', 'cert'].map((name) => ({
    path: join(folder, name),
    contents: 'new',
    mode: 0o600,
  }));
  await writeFilesAtomic(files);
  const [one = '', other = '', ...rest] = operations.seen;
  // At once, so in any order.
  t.match([one, other].toSorted(), [/^sync \.cert\..*\.new$/, /^sync \.key\..*\.new$/]);
  t.match(rest, [/^rename \.key\..* -> key$/, /^rename \.cert\..* -> cert$/, /^sync \.$/]);
  operations.failAt(/^sync \.cert/, new Error('EIO'));
  const changed = files.map((file) => ({ ...file, contents: 'other' }));
  await t.rejects(writeFilesAtomic(changed), /EIO/);
  t.equal(readFileSync(join(folder, 'key'), 'utf8'), 'new', 'none of them is changed');
  t.same(await namesIn(folder), ['cert', 'key']);
});

t.test('many files are all written, or none is', async (t) => {
  const folder = t.testdir({ file: '' });
  const files = Array.from({ length: 40 }, (_, index) => ({
    path: join(folder, 'many', `${index}`),
    contents: `${index}`,
    mode: 0o600,
  }));
  const impossible = { path: join(folder, 'file/below'), contents: '', mode: 0o600 };
  await t.rejects(writeFilesAtomic(files.toSpliced(20, 0, impossible)), { code: 'EEXIST' });
  t.same(readdirSync(join(folder, 'many')), []);
  await writeFilesAtomic(files);
  t.equal(readdirSync(join(folder, 'many')).length, 40);
  t.equal(readFileSync(join(folder, 'many/39'), 'utf8'), '39');
});

t.test('an inaccessible file is not reported as missing', async (t) => {
  const folder = t.testdir({ file: 'text' });
  // A name too long for any file system.
  const path = join(folder, 'x'.repeat(300));
  const questions: readonly ((path: string) => Promise<unknown>)[] = [
    ...[exists, removeFile, namesIn, readTextIfPresent],
  ];
  for (const ask of questions) {
    await t.rejects(ask(path), { code: 'ENAMETOOLONG' }, ask.name);
  }
  await t.rejects(syncDirectory(join(folder, 'file')), { code: 'ENOTDIR' });
  await t.rejects(removeFile(folder), { code: 'ERR_FS_EISDIR' }, 'a folder is not deleted');
});

t.test('digest of a text', async (t) => {
  const empty = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
  t.equal(sha256(''), empty);
  t.equal(sha256(new Uint8Array()), empty);
});

t.test('the names in a folder are sorted; a missing folder has none', async (t) => {
  const folder = t.testdir({ b: '', a: '', c: '' });
  t.strictSame(await namesIn(folder), ['a', 'b', 'c']);
  t.strictSame(await namesIn(join(folder, 'none')), []);
  await t.rejects(namesIn('\0'), { code: 'ERR_INVALID_ARG_VALUE' });
});

t.test('digest of a file', async (t) => {
  const path = join(t.testdir(), 'big');
  const contents = Buffer.alloc(3 << 20, 'abc');
  writeFileSync(path, contents);
  t.equal(await sha256OfFile(path, never), createHash('sha256').update(contents).digest('hex'));
  await t.rejects(sha256OfFile(path, AbortSignal.abort(new Error('told to stop'))), {
    message: 'told to stop',
  });
  await t.rejects(sha256OfFile(`${path}.none`, never), { code: 'ENOENT' });
});
