import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

/** Calls that change the disk, or open a file for that. */
const CALLS = ['link', 'mkdir', 'open', 'rename', 'rm', 'unlink'] as const;

/** What a call throws in a process that is dead: it has no effects, not even those of `catch` and `finally`. */
export class Killed extends Error {}

/**
 * Runs `body` as a process that is killed before its n-th call that may change the disk. Returns whether it was:
 * false once `n` is beyond the last call.
 */
export async function killedAt(n: number, body: () => Promise<unknown>): Promise<boolean> {
  const originals = CALLS.map((name) => [name, fs[name]] as const);
  let calls = 0;
  for (const [name, original] of originals) {
    const replaced = (...args: unknown[]): unknown => {
      calls += 1;
      if (calls >= n) return Promise.reject(new Killed(`killed at call ${n}, ${name}`));
      return Reflect.apply(original, fs, args);
    };
    Reflect.set(fs, name, replaced);
  }
  syncBuiltinESMExports();
  try {
    await body();
  } catch (error) {
    if (calls < n) throw error;
  } finally {
    for (const [name, original] of originals) Reflect.set(fs, name, original);
    syncBuiltinESMExports();
  }
  return calls >= n;
}
