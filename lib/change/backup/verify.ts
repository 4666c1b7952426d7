import { lstat, readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { describeError, Failure } from '../../base/errors/failure.ts';
import { exists, sha256OfFile } from '../../host/files.ts';
import { type BackupFile, type BackupManifest, MANIFEST_FILE } from './manifest.ts';
import { newerSchema, readManifest } from './store.ts';

export interface VerifyOptions {
  readonly clusterId: string;
  /** The only user who may own the files. */
  readonly owner: number;
  readonly signal: AbortSignal;
}

/**
 * Reads the whole backup and compares it with its manifest.
 *
 * @throws Failure (usage, `backup-unusable`) with everything that is wrong; nothing was changed.
 */
export async function verifyBackup(path: string, options: VerifyOptions): Promise<BackupManifest> {
  if (!(await exists(path))) throw unusable(path, ['it does not exist']);
  const newer = await newerSchema(path);
  if (newer !== undefined) throw unusable(path, [newer]);
  const entries = await entryProblems(path, options.owner);
  // A link could lead anywhere: nothing is read through one.
  if (entries.length > 0) throw unusable(path, entries);
  const manifest = await readManifest(path).catch((error: unknown) => {
    throw unusable(path, [describeError(error)]);
  });
  const problems = [
    ...(manifest.clusterId === options.clusterId
      ? []
      : [`it is of the cluster ${manifest.clusterId}, this one is ${options.clusterId}`]),
    ...listProblems(manifest, await filesBelow(path)),
    ...(await contentProblems(path, manifest.files, options.signal)),
  ];
  if (problems.length > 0) throw unusable(path, problems);
  return manifest;
}

async function entryProblems(path: string, owner: number): Promise<string[]> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true }).catch(() => []);
  const all = [path, ...entries.map(({ parentPath, name }) => join(parentPath, name))];
  const problems: string[] = [];
  for (const entry of all) {
    const found = await lstat(entry);
    const name = relative(path, entry) || 'the folder';
    const isRight = entry === path ? found.isDirectory() : found.isDirectory() || found.isFile();
    if (!isRight) problems.push(`${name} is not a regular file`);
    else if (found.uid !== owner)
      problems.push(`${name} belongs to user ${found.uid}, not ${owner}`);
    else if ((found.mode & 0o022) !== 0) problems.push(`${name} can be written by other users`);
  }
  return problems;
}

async function filesBelow(path: string): Promise<string[]> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(path, join(parentPath, name)));
}

/** Whatever exists is in the manifest; what does not exist has no contents. */
function listProblems({ files }: BackupManifest, found: readonly string[]): string[] {
  const listed = [MANIFEST_FILE, ...files.map(({ path }) => path)];
  return found.filter((file) => !listed.includes(file)).map((file) => `${file} is not listed`);
}

async function contentProblems(
  folder: string,
  files: readonly BackupFile[],
  signal: AbortSignal,
): Promise<string[]> {
  const problems: string[] = [];
  for (const { path, sha256 } of files) {
    const found = await sha256OfFile(join(folder, path), signal).catch((error: unknown) => {
      signal.throwIfAborted();
      return describeError(error);
    });
    if (found !== sha256) problems.push(`${path}: expected SHA-256 ${sha256}, found ${found}`);
  }
  return problems;
}

function unusable(path: string, problems: readonly string[]): Failure {
  return new Failure('usage', `the backup ${path} cannot be used`, {
    code: 'backup-unusable',
    subject: path,
    found: problems.join('; '),
    fix: 'Run "sno-backup list" and choose another one.',
  });
}
