import fsp from 'node:fs/promises';
import type { Test } from 'tap';
import { captureBuiltins } from './builtins.ts';

/** Every file system has what `disk` returns then, in bytes. */
export function diskOf(t: Test, disk: () => { readonly size?: number; readonly free: number }) {
  const { statfs } = fsp;
  captureBuiltins(t, () => {
    t.capture(fsp, 'statfs', async (path: string) => {
      const { size, free } = disk();
      const real = await statfs(path);
      return { ...real, bsize: 1, bavail: free, ...(size === undefined ? {} : { blocks: size }) };
    });
  });
}
