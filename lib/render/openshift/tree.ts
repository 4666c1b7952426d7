import { copyFile, lstat, mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { Failure } from '../../base/errors/failure.ts';
import { ifMissing } from '../../host/files.ts';
import type { HostPaths } from '../../host/paths.ts';
import type { Copy, VersionedStage } from './stage.ts';

/** Folders with the results of several stages. */
export interface Tree {
  /** As `/opt/openshift` on the host. */
  readonly assets: string;
  /** As `/` on the host. */
  readonly host: string;
}

/**
 * Copies what openshift-install wrote, so that no attempt to render finds results of another one,
 * nor changes what it began with.
 */
export async function copyInstallerFiles(
  { assets: source }: Pick<HostPaths, 'assets'>,
  imageReferences: string,
  target: string,
): Promise<void> {
  for (const folder of ['manifests', 'openshift', 'tls', 'auth']) {
    await copyFiles(join(source, folder), join(target, folder));
  }
  // The machine configuration and the user's own manifests are manifests as well.
  await copyFiles(join(source, 'openshift'), join(target, 'manifests'));
  await writeFile(join(target, 'image-references'), imageReferences);
}

/** What a stage finds: the installer's files, and what the stages before it have copied. */
export async function makeView(
  installerFiles: string,
  before: readonly { readonly stage: VersionedStage; readonly results: string }[],
  tree: Tree,
): Promise<void> {
  await copyFiles(installerFiles, tree.assets);
  await mkdir(tree.host, { recursive: true });
  for (const { stage, results } of before) await applyCopies(stage, results, tree);
}

/** Copies the results of a stage to where they belong. @throws Failure (retry) if one is missing */
export async function applyCopies(
  { name, copies }: Pick<VersionedStage, 'name' | 'copies'>,
  results: string,
  tree: Tree,
): Promise<void> {
  for (const copy of copies) {
    const source = sourceOf(copy, results, tree);
    const target = copy.to.startsWith('/') ? join(tree.host, copy.to) : join(tree.assets, copy.to);
    const isCopied = await copyFiles(source, target);
    if (isCopied || copy.optional) continue;
    throw new Failure('retry', `the stage ${name} has not rendered ${copy.from ?? copy.shared}`, {
      code: 'render-failed',
      subject: name,
      expected: `files for ${copy.to}`,
      found: 'no file',
    });
  }
}

function sourceOf({ from, shared }: Copy, results: string, tree: Tree): string {
  return from === undefined ? join(tree.assets, shared) : join(results, from);
}

/** A file, or all files below a folder. Returns false if there is none. */
async function copyFiles(source: string, target: string): Promise<boolean> {
  const info = await lstat(source).catch(ifMissing);
  if (info === undefined) return false;
  if (info.isFile()) {
    await copyOne(source, target);
    return true;
  }
  if (!info.isDirectory()) throw notRegular(source);
  const files = await filesBelow(source);
  // At once: each stage waits for a few hundred files.
  await Promise.all(files.map((file) => copyOne(join(source, file), join(target, file))));
  return files.length > 0;
}

async function copyOne(source: string, target: string): Promise<void> {
  await mkdir(dirname(target), { recursive: true });
  await copyFile(source, target);
}

/**
 * The paths of all files below a folder, relative to it and sorted.
 * @throws Failure (fatal) for a link or a special file: what a program in a container has made is
 *   never followed out of its folder
 */
export async function filesBelow(folder: string): Promise<string[]> {
  const entries =
    (await readdir(folder, { recursive: true, withFileTypes: true }).catch(ifMissing)) ?? [];
  const files: string[] = [];
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) files.push(relative(folder, path));
    else if (!entry.isDirectory()) throw notRegular(path);
  }
  return files.toSorted();
}

const notRegular = (path: string) =>
  new Failure('fatal', `${path} is not a regular file`, { code: 'render-failed' });
