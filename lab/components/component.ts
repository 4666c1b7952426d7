import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { exists } from '../../lib/host/files.ts';

/**
 * A part of the lab that is built once and cached: binaries, a root file system, an image. Its key
 * changes with its version and with every file of its recipe, so a cached result always
 * matches the recipe.
 */
export interface Component {
  readonly name: string;
  readonly version: string;
  /** Files and folders that make up the recipe: the module itself and its data. */
  readonly recipe: readonly string[];
  /** Components whose results the build reads. */
  readonly needs?: readonly Component[];
  /** Components that are built before it: they compile most of its libraries. Its result does not depend on theirs. */
  readonly after?: readonly Component[];
  /** Builds into `target`, an empty folder. */
  build(target: string, context: BuildContext): Promise<void>;
}

export interface BuildContext {
  readonly signal: AbortSignal;
  /** Called with a short line about the current activity. */
  report(line: string): void;
  /** The result folder of a component listed in `needs`. */
  folderOf(component: Component): string;
}

export interface EnsureOptions {
  readonly signal: AbortSignal;
  report(line: string): void;
}

/** Keys not used for this long are deleted when another key of the component is built. */
const UNUSED_KEY_MS = 6 * 60 * 60 * 1000;
/** A build folder this old was left by a run that died. */
const ABANDONED_BUILD_MS = 2 * 60 * 60 * 1000;
const PARALLEL_BUILDS = 2;

/** The folder of everything that the lab keeps between runs. */
export function cacheFolder(): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'sno-agents');
}

/** Whether the cache has the component's result. */
export async function isBuilt(component: Component): Promise<boolean> {
  return exists(await folderOf(component));
}

async function folderOf(component: Component): Promise<string> {
  return join(cacheFolder(), 'components', component.name, await componentKey(component));
}

const running = new Map<string, Promise<string>>();

/** The folder with the component's result; builds it and what it needs if not cached. */
export function ensureComponent(component: Component, options: EnsureOptions): Promise<string> {
  const known = running.get(component.name);
  if (known !== undefined) return known;
  const made = ensureOnce(component, options);
  running.set(component.name, made);
  made.catch(() => running.delete(component.name));
  return made;
}

async function ensureOnce(component: Component, options: EnsureOptions): Promise<string> {
  const folders = new Map<string, string>();
  await Promise.all(
    (component.needs ?? []).map(async (needed) => {
      folders.set(needed.name, await ensureComponent(needed, options));
    }),
  );
  const folder = await folderOf(component);
  if (await exists(folder)) {
    await utimes(folder, new Date(), new Date());
    return folder;
  }
  for (const earlier of component.after ?? []) await ensureComponent(earlier, options);
  const release = await takeBuildSlot(options.signal);
  try {
    await buildInto(component, folder, {
      ...options,
      folderOf: (needed) => folders.get(needed.name) ?? '',
    });
  } finally {
    release();
  }
  return folder;
}

async function buildInto(
  component: Component,
  folder: string,
  context: BuildContext,
): Promise<void> {
  const parent = dirname(folder);
  await mkdir(parent, { recursive: true });
  await prune(parent);
  const building = `${folder}.building-${process.pid}`;
  await rm(building, { recursive: true, force: true });
  await mkdir(building);
  try {
    await component.build(building, context);
    await rename(building, folder);
  } catch (error) {
    await rm(building, { recursive: true, force: true });
    // Another lab run may have built the same key in the meantime.
    if (!(await exists(folder))) throw error;
  }
}

async function prune(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const path = join(parent, name);
    const age = Date.now() - (await stat(path)).mtimeMs;
    const limit = name.includes('.building-') ? ABANDONED_BUILD_MS : UNUSED_KEY_MS;
    if (age > limit) await rm(path, { recursive: true, force: true });
  }
}

/** `<version>-<hash of the recipe and of the keys it needs>`. */
export async function componentKey(component: Component): Promise<string> {
  const hash = createHash('sha256');
  for (const needed of component.needs ?? []) hash.update(`${await componentKey(needed)}\n`);
  for (const path of component.recipe) {
    for (const [name, contents] of await recipeFiles(path)) {
      hash.update(`${name} ${contents.length}\n`).update(contents);
    }
  }
  return `${component.version}-${hash.digest('hex').slice(0, 12)}`;
}

async function recipeFiles(path: string): Promise<[string, Buffer][]> {
  if ((await stat(path)).isFile()) return [['', await readFile(path)]];
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((e) => join(e.parentPath, e.name));
  return Promise.all(
    files.sort().map(async (file): Promise<[string, Buffer]> => {
      return [file.slice(path.length), await readFile(file)];
    }),
  );
}

let freeSlots = PARALLEL_BUILDS;
const waiting: (() => void)[] = [];

async function takeBuildSlot(signal: AbortSignal): Promise<() => void> {
  if (freeSlots > 0) freeSlots -= 1;
  else await new Promise<void>((resolve) => waiting.push(resolve));
  const release = () => {
    const next = waiting.shift();
    if (next === undefined) freeSlots += 1;
    else next();
  };
  if (signal.aborted) {
    release();
    signal.throwIfAborted();
  }
  return release;
}
