import fsp from 'node:fs/promises';
import { tmpdir } from 'node:os';
import type { Test } from 'tap';
import { captureBuiltins } from './builtins.ts';

/** The kernel of the host has SELinux, or has not. */
export function kernelHasSelinux(t: Test, isThere: boolean): void {
  const { lstat } = fsp;
  captureBuiltins(t, () => {
    t.capture(fsp, 'lstat', async (path: string) => {
      if (path !== '/sys/fs/selinux/enforce') return lstat(path);
      if (isThere) return lstat(tmpdir());
      throw Object.assign(new Error('ENOENT'), { code: 'ENOENT' });
    });
  });
}
