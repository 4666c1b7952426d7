import fs from 'node:fs';
import type { Unsynced } from './unsynced.ts';

const WRITES = fs.constants.O_WRONLY | fs.constants.O_RDWR;
/** Whether a file that is opened with these flags can be changed. */
export const changes = (flags: unknown): boolean =>
  typeof flags === 'number' ? (flags & WRITES) !== 0 : /[wa+]/.test(String(flags ?? 'r'));

/** Of an open file. */
export const pathOf = (fd: number): string => fs.readlinkSync(`/proc/self/fd/${fd}`);

type OnOpen = (error: Error | null, fd: number) => void;

/** The functions of `node:fs` with a callback, by which streams write; those that only read pass. */
export function captureStreams(
  capture: (on: typeof fs, name: 'open' | 'write' | 'writev' | 'fsync', replaced: unknown) => void,
  effect: (text: string) => number,
  unsynced: Unsynced,
): void {
  const { open, write, writev } = fs;
  /** Has the effect, or ends the call as that of a dead process: with an error that the stream passes on. */
  const unlessDead = (
    text: string,
    args: readonly unknown[],
    alive: (number: number) => void,
  ): void => {
    let number: number;
    try {
      number = effect(text);
    } catch (error) {
      const callback = args.at(-1);
      if (typeof callback === 'function') process.nextTick(callback, error);
      return;
    }
    alive(number);
  };
  capture(fs, 'open', (path: string, flags: string, mode: number, callback: OnOpen) => {
    if (!changes(flags)) return open(path, flags, mode, callback);
    const wasThere = fs.existsSync(path);
    unlessDead(`open ${path}`, [callback], (number) => {
      const onOpen: OnOpen = (error, fd) => {
        if (error === null) unsynced.opened(number, path, wasThere);
        callback(error, fd);
      };
      open(path, flags, mode, onOpen);
    });
  });
  for (const [name, original] of Object.entries({ write, writev })) {
    capture(fs, name === 'write' ? 'write' : 'writev', (fd: number, ...args: unknown[]) =>
      unlessDead(`write ${pathOf(fd)}`, args, () => Reflect.apply(original, fs, [fd, ...args])),
    );
  }
  capture(fs, 'fsync', (fd: number, callback: (error: Error | null) => void) =>
    unlessDead(`sync ${pathOf(fd)}`, [callback], () => {
      unsynced.synced(fd);
      process.nextTick(callback, null);
    }),
  );
}
