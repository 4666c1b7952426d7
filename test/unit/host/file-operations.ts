import fs, { readlinkSync } from 'node:fs';
import fsp, { type FileHandle, open } from 'node:fs/promises';
import { relative } from 'node:path';
import type { Test } from 'tap';
import { captureBuiltins } from './builtins.ts';

export interface FileOperations {
  /** `sync PATH`, `datasync PATH`, `rename PATH -> PATH`, `rm PATH`, in order; paths relative to the folder. */
  readonly seen: string[];
  /** Makes operations whose text matches fail with this error. */
  failAt(operation: RegExp, error: Error): void;
}

/**
 * Records operations that make files durable below `folder`, and can make them fail: the results
 * of a full disk cannot be produced otherwise. Interruptions: `killedAtAnyMoment`.
 */
export async function recordFileOperations(t: Test, folder: string): Promise<FileOperations> {
  const seen: string[] = [];
  const failures: { operation: RegExp; error: Error }[] = [];
  const inFolder = (path: unknown) => relative(folder, String(path)) || '.';
  const note = (operation: string) => {
    seen.push(operation);
    const failure = failures.find((it) => it.operation.test(operation));
    if (failure !== undefined) throw failure.error;
  };
  const { rename, rm } = fsp;
  const { fsync } = fs;
  const handle = await open('/dev/null');
  const prototype: FileHandle = Object.getPrototypeOf(handle);
  const { sync, datasync } = prototype;
  await handle.close();

  captureBuiltins(t, () => {
    t.capture(fsp, 'rename', async (from: string, to: string) => {
      note(`rename ${inFolder(from)} -> ${inFolder(to)}`);
      await rename(from, to);
    });
    t.capture(fsp, 'rm', async (path: string, options?: fs.RmOptions) => {
      if (fs.existsSync(path)) note(`rm ${inFolder(path)}`);
      await rm(path, options);
    });
    t.capture(prototype, 'sync', async function (this: FileHandle) {
      note(`sync ${inFolder(readlinkSync(`/proc/self/fd/${this.fd}`))}`);
      await sync.call(this);
    });
    t.capture(prototype, 'datasync', async function (this: FileHandle) {
      note(`datasync ${inFolder(readlinkSync(`/proc/self/fd/${this.fd}`))}`);
      await datasync.call(this);
    });
    t.capture(fs, 'fsync', (fd: number, done: fs.NoParamCallback) => {
      try {
        note(`sync ${inFolder(readlinkSync(`/proc/self/fd/${fd}`))}`);
      } catch (error) {
        done(error instanceof Error ? error : new Error(String(error)));
        return;
      }
      fsync(fd, done);
    });
  });
  return { seen, failAt: (operation, error) => failures.push({ operation, error }) };
}
