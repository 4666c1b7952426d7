import fs, { fsync } from 'node:fs';
import fsp, { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { recordFileOperations } from './file-operations.ts';

t.test('captured functions are restored after the test', async (t) => {
  const folder = t.testdir({ file: '' });
  const handle = await open(folder);
  const prototype: FileHandle = Object.getPrototypeOf(handle);
  await handle.close();
  const now = () => [
    ...[rename, rm, fsync, fsp.rename, fsp.rm, fs.fsync],
    ...[prototype.sync, prototype.datasync],
  ];
  const before = now();
  await t.test('captured', async (t) => {
    const { seen } = await recordFileOperations(t, folder);
    for (const [index, captured] of now().entries()) t.not(captured, before[index]);
    await rename(join(folder, 'file'), join(folder, 'moved'));
    await rm(join(folder, 'moved'));
    t.same(seen, ['rename file -> moved', 'rm moved']);
  });
  for (const [index, restored] of now().entries()) t.equal(restored, before[index]);
});
