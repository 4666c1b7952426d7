import childProcess from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import fs from 'node:fs';
import fsp, { type FileHandle } from 'node:fs/promises';
import type { ClientRequest } from 'node:http';
import https from 'node:https';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import { captureStreams, changes, pathOf } from './captured-streams.ts';
import { differentMoments, type Effect } from './moments.ts';
import { Overlaps } from './overlaps.ts';
import { Unsynced } from './unsynced.ts';

const NEVER = Number.POSITIVE_INFINITY;
/** The number of what changes nothing. */
const NO_EFFECT = -1;
/** How long an effect lasts, as on a slow disk: one that is not waited for overlaps with what follows. */
const EFFECT_MS = 10;
/** Not that of a test which replaces the timers. */
const pause = sleep;

/** What a dead process would have done. */
class Killed extends Error {}

/** What is interrupted, and how its result is judged. */
export interface Interrupted<Host> {
  /** A fresh host, before each moment, below the folder of temporary files (`freshFolder`, `testHost`). */
  prepare(): Host | Promise<Host>;
  /** What is interrupted, and afterwards run again as a new process. */
  run(host: Host): Promise<unknown>;
  /** How it is run again, if not by `run`. */
  again?(host: Host): Promise<unknown>;
  /** Throws or asserts if the host is in a state after the death that must never be; `when` names the moment. */
  allowed?(host: Host, when: string): void | Promise<void>;
  /** What must be the same whatever the moment was: that of a run without interruption. */
  result(host: Host): unknown;
  /** The fewest moments that prove that something was interrupted. */
  readonly least: number;
  /** That a power cut right after the end loses nothing of the result. Without it, the next run has to find the rest. */
  readonly isDurable?: boolean;
  /** Effects that are independent of each other happen at the same time. */
  readonly isConcurrent?: boolean;
}

/**
 * Interrupts `run` before its first effect, before its second and so on: changes of files, syncs and starts of programs. Each
 * time twice: as a killed process, and by a power cut, which also takes back what is not synced. Then it runs again, and
 * the result must be the same.
 */
export async function killedAtAnyMoment<Host>(t: Test, it: Interrupted<Host>): Promise<void> {
  const prepared = async (): Promise<Host> => {
    const { value } = await dying(NEVER, false, () => it.prepare());
    if (value === undefined) throw new Error('no host');
    return value;
  };
  const whole = await prepared();
  const effects = await waitsForEachEffect(t, () => it.run(whole), it.isConcurrent);
  const expected = await it.result(whole);
  t.ok(effects.length >= it.least, `${effects.length} effects`);
  for (const { losesPower, at } of differentMoments(effects)) {
    const host = await prepared();
    const { before } = await dying(at, losesPower, () => it.run(host));
    const where = before === undefined ? 'after the end' : `at ${at}, before ${before}`;
    const when = `${losesPower ? 'power cut' : 'killed'} ${where}`;
    await it.allowed?.(host, when);
    if (before === undefined && it.isDurable === true)
      t.same(await it.result(host), expected, `${when}: nothing is lost`);
    await dying(NEVER, false, () => (it.again ?? it.run)(host));
    t.same(await it.result(host), expected, when);
  }
}

/**
 * Runs `run` once, each of its effects as slow as on a slow disk: none may begin, and the run may not end, before the earlier
 * ones have ended. Returns the effects. Enough for what is too large to be interrupted everywhere.
 */
export async function waitsForEachEffect(
  t: Test,
  run: () => Promise<unknown>,
  isConcurrent = false,
): Promise<readonly Effect[]> {
  const { effects, overlaps } = await dying(NEVER, false, run, EFFECT_MS);
  const unexpected = overlaps.found.filter((text) => !isConcurrent || text.startsWith('the end'));
  t.same(unexpected, [], 'each effect is waited for');
  return effects;
}

/**
 * Runs `body` as a process that dies before its effect number `moment`, from 0. From then on it has no effects, not even
 * those of `catch` and `finally`. `effects`: those that it has had; `before`: that which it has not had, undefined if it has
 * ended before.
 */
export async function dying<T>(
  moment: number,
  losesPower: boolean,
  body: () => Promise<T> | T,
  effectMs = 0,
): Promise<{
  readonly effects: readonly Effect[];
  readonly before: string | undefined;
  readonly overlaps: Overlaps;
  readonly value?: T;
}> {
  const folder = fs.mkdtempSync(join(tmpdir(), 'sno-unsynced-'));
  const unsynced = new Unsynced(join(folder, 'kept'));
  const effects: Effect[] = [];
  const overlaps = new Overlaps();
  let before: string | undefined;
  const requests = countRequests();
  const effect = (text: string): number => {
    if (before === undefined && effects.length < moment)
      return effects.push({ text, requests: requests.count(), lost: unsynced.lost }) - 1;
    before ??= text;
    throw new Killed(`dead before ${text}`);
  };
  const restore = await captureEffects(effect, unsynced, overlaps, effectMs);
  try {
    const value = await body();
    overlaps.ended();
    // What nobody waits for may begin only now.
    if (effectMs > 0) await pause(5 * effectMs);
    return { effects, before, overlaps, value };
  } catch (error) {
    if (before === undefined) throw error;
    return { effects, before, overlaps };
  } finally {
    restore();
    requests.stop();
    if (losesPower) unsynced.cut();
    fs.rmSync(folder, { recursive: true });
  }
}

const REQUESTS = ['http.server.request.start', 'http2.server.stream.start'];

/** Counts what the servers of this process are asked: they keep what they are told. */
function countRequests(): { count(): number; stop(): void } {
  let count = 0;
  const seen = () => {
    count += 1;
  };
  for (const name of REQUESTS) subscribe(name, seen);
  return {
    count: () => count,
    stop() {
      for (const name of REQUESTS) unsubscribe(name, seen);
    },
  };
}

/** Replaces the functions by which the product has effects; returns how they are restored. */
async function captureEffects(
  had: (text: string) => number,
  unsynced: Unsynced,
  overlaps: Overlaps,
  effectMs: number,
): Promise<() => void> {
  let ends: (() => void) | undefined;
  const effect = (text: string): number => {
    const number = had(text);
    ends = overlaps.begun(text);
    return number;
  };
  const begun = (): (() => void) | undefined => ends;
  /** A function whose effect, if it has one, lasts until its promise is settled. */
  const lasting = (call: (...args: never[]) => Promise<unknown>) =>
    async function (this: unknown, ...args: unknown[]): Promise<unknown> {
      ends = undefined;
      const result: Promise<unknown> = Reflect.apply(call, this, args);
      const end = begun();
      if (end === undefined) return result;
      return result.finally(async () => {
        if (effectMs > 0) await pause(effectMs);
        end();
      });
    };
  const handle = await fsp.open('/dev/null');
  const files: FileHandle = Object.getPrototypeOf(handle);
  await handle.close();
  const restores: (() => void)[] = [];
  const replace = <T extends object>(on: T, name: keyof T & string, replaced: unknown): void => {
    const original = Reflect.getOwnPropertyDescriptor(on, name);
    if (original === undefined) throw new Error(`no ${name}`);
    restores.push(() => Reflect.defineProperty(on, name, original));
    Reflect.defineProperty(on, name, { ...original, value: replaced });
  };
  const capture = <T extends object>(
    on: T,
    name: keyof T & string,
    call: (...args: never[]) => Promise<unknown>,
  ): void => replace(on, name, lasting(call));
  const { rename, link, symlink, unlink, rm, mkdir, open } = fsp;
  capture(fsp, 'rename', async (from: string, to: string) => {
    const number = effect(`rename ${from} -> ${to}`);
    await unsynced.renamed(number, from, to, () => rename(from, to));
  });
  for (const [name, make] of Object.entries({ link, symlink })) {
    capture(fsp, name === 'link' ? 'link' : 'symlink', async (target: string, path: string) => {
      const number = effect(`${name} ${path}`);
      await make(target, path);
      unsynced.named(number, path);
    });
  }
  capture(fsp, 'unlink', async (path: string) => {
    const number = effect(`unlink ${path}`);
    if (!unsynced.removed(number, path)) await unlink(path);
  });
  capture(fsp, 'rm', async (path: string, options?: fs.RmOptions) => {
    const number = fs.existsSync(path) ? effect(`rm ${path}`) : NO_EFFECT;
    const isFolder = fs.lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
    if ((isFolder && options?.recursive !== true) || !unsynced.removed(number, path))
      await rm(path, options);
  });
  capture(fsp, 'mkdir', async (path: string, options?: fs.MakeDirectoryOptions) => {
    const number = fs.existsSync(path) ? NO_EFFECT : effect(`mkdir ${path}`);
    const made = await mkdir(path, options);
    if (options?.recursive !== true || made !== undefined)
      unsynced.madeFolder(number, made ?? path);
    return made;
  });
  capture(fsp, 'open', async (path: string, flags?: string | number, mode?: number) => {
    if (!changes(flags)) return open(path, flags, mode);
    const number = effect(`open ${path}`);
    const wasThere = fs.existsSync(path);
    const file = await open(path, flags, mode);
    if ((await file.stat()).isFile()) unsynced.opened(number, path, wasThere);
    return file;
  });
  for (const name of ['writeFile', 'copyFile', 'cp', 'chmod', 'chown', 'rmdir'] as const) {
    const original = fsp[name];
    capture(fsp, name, async (...args: unknown[]) => {
      effect(`${name} ${String(args[0])}`);
      return Reflect.apply(original, fsp, args);
    });
  }
  for (const name of ['write', 'writeFile', 'chmod', 'truncate'] as const) {
    const original = files[name];
    capture(files, name, async function (this: FileHandle, ...args: unknown[]) {
      effect(`${name} ${pathOf(this.fd)}`);
      return Reflect.apply(original, this, args);
    });
  }
  for (const name of ['sync', 'datasync'] as const) {
    // The real one takes long, and this process does not lose its disk.
    capture(files, name, async function (this: FileHandle) {
      effect(`${name} ${pathOf(this.fd)}`);
      unsynced.synced(this.fd);
    });
  }
  captureStreams(replace, had, unsynced);
  const { spawn } = childProcess;
  replace(childProcess, 'spawn', (program: string, args: readonly string[], options: object) => {
    const text = [program, ...args].join(' ');
    had(text);
    const end = overlaps.begun(text);
    return spawn(program, args, options).once('exit', end).once('error', end);
  });
  const { request } = https;
  replace(https, 'request', (...args: unknown[]) => {
    const sent: ClientRequest = Reflect.apply(request, https, args);
    if (sent.method !== 'GET') sent.once('close', overlaps.begun(`${sent.method} ${sent.path}`));
    return sent;
  });
  syncBuiltinESMExports();
  return () => {
    for (const restore of restores) restore();
    syncBuiltinESMExports();
  };
}
