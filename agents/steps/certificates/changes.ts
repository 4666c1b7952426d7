import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { Failure } from '../../../lib/base/errors/failure.ts';
import {
  type FailureData,
  failureData,
  failureDataSchema,
} from '../../../lib/base/errors/failure-data.ts';
import { rotationFolder } from '../../../lib/change/rotation/request.ts';
import { exists, readTextIfPresent } from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { secretFile, writeKeptFiles } from '../../../lib/secrets/seal/files.ts';

/** The phases in which files change, in their order. */
export const PHASES = ['trust-both', 'use-new', 'trust-new'] as const;
export type Phase = (typeof PHASES)[number];

const changeSchema = z.object({
  /** On the host. A link is followed: the kubelet's certificates are behind links. */
  path: z.string(),
  contents: z.string(),
  mode: z.number(),
});

/** A file that exists, and its new contents. */
export type FileChange = z.infer<typeof changeSchema>;

const changes = z.array(changeSchema);
const stagedSchema = z.object({
  schemaVersion: z.literal(1),
  /** Of the request. */
  id: z.string(),
  phases: z.object({ 'trust-both': changes, 'use-new': changes, 'trust-new': changes }),
  /** Identities that must be refused at the end, by the names of their leaves. */
  retired: z.array(z.object({ name: z.string(), certificate: z.string(), key: z.string() })),
});
const undoSchema = z.object({
  phase: z.enum(PHASES),
  changes,
  /** Why the new files do not work: the old ones are being restored. */
  failed: failureDataSchema.optional(),
});

/** What the files of a phase contained before it. */
export type Undo = z.infer<typeof undoSchema>;

/** Everything that a rotation writes, computed at its beginning. */
export type Staged = z.infer<typeof stagedSchema>;

const stagedFile = (paths: HostPaths) =>
  secretFile(paths, join(rotationFolder(paths), 'staged.json'), stagedSchema, 'none');
const undoFile = (paths: HostPaths) =>
  secretFile(paths, join(rotationFolder(paths), 'undo.json'), undoSchema, 'none');

export const saveStaged = (paths: HostPaths, staged: Staged): Promise<void> =>
  stagedFile(paths).write(staged);

/** What was staged for that request; undefined if nothing was. */
export async function readStaged(paths: HostPaths, id: string): Promise<Staged | undefined> {
  const staged = await stagedFile(paths).read();
  return staged?.id === id ? staged : undefined;
}

/** @throws Failure (fatal) if there is nothing: its keys may be in use. */
export async function loadStaged(paths: HostPaths, id: string): Promise<Staged> {
  const staged = await readStaged(paths, id);
  if (staged !== undefined) return staged;
  throw new Failure('fatal', `${stagedFile(paths).path} cannot be used`, {
    expected: 'the keys and certificates of the rotation under way',
  });
}

/** Begins a phase, or continues it: what was kept stays until the phase ends, also over a restart. */
export async function keepUndo(
  paths: HostPaths,
  phase: Phase,
  wanted: readonly FileChange[],
): Promise<Undo> {
  const kept = await undoFile(paths).read();
  if (kept?.phase === phase) return kept;
  const before: FileChange[] = [];
  for (const { path, mode } of wanted) {
    const contents = await readTextIfPresent(paths.at(path));
    if (contents !== undefined) before.push({ path, contents, mode });
  }
  return saveUndo(paths, { phase, changes: before });
}

/** Keeps why a phase failed, so that it is undone and not tried again, and for what reason. */
export async function keepFailed(
  paths: HostPaths,
  undo: Undo,
  cause: unknown,
): Promise<FailureData> {
  const failed = failureData(cause);
  await saveUndo(paths, { ...undo, failed });
  return failed;
}

async function saveUndo(paths: HostPaths, undo: Undo): Promise<Undo> {
  await undoFile(paths).write(undo);
  return undo;
}

export async function dropUndo(paths: HostPaths): Promise<void> {
  await undoFile(paths).remove();
}

/** Whether an attempt at a phase has begun and not ended. */
export const hasUndo = (paths: HostPaths): Promise<boolean> => exists(undoFile(paths).path);

/** Deletes the staged keys: what is in use is in its place. Why they failed is known until the end. */
export async function dropStaged(paths: HostPaths): Promise<void> {
  await stagedFile(paths).remove();
  await dropUndo(paths);
}

/** Writes those that differ; all of them appear at nearly the same moment. */
export async function writeChanges(paths: HostPaths, wanted: readonly FileChange[]): Promise<void> {
  const files = [];
  for (const { path, contents, mode } of await differing(paths, wanted)) {
    files.push({ path: paths.onHost(await realpath(paths.at(path))), contents, mode });
  }
  await writeKeptFiles(paths, files);
}

/**
 * Those of the changes that are not on the disk. A file that was deleted since is not one of them:
 * sno-deferred deletes its identity when it ends.
 */
export async function differing(
  paths: HostPaths,
  wanted: readonly FileChange[],
): Promise<FileChange[]> {
  const found: FileChange[] = [];
  for (const change of wanted) {
    const present = await readTextIfPresent(paths.at(change.path));
    if (present !== undefined && present !== change.contents) found.push(change);
  }
  return found;
}
