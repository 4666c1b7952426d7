import { readFile, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { describeError } from '../../base/errors/failure.ts';
import { schemaFaults } from '../../base/errors/schema-faults.ts';
import { isRecord, parseJson } from '../../base/json.ts';
import { namesIn, readTextIfPresent, syncDirectory } from '../../host/files.ts';
import type { HostPaths } from '../../host/paths.ts';
import {
  type BackupManifest,
  isPartial,
  MANIFEST_FILE,
  manifestSchema,
  SCHEMA_VERSION,
  timeOfBackup,
} from './manifest.ts';
import { newestComplete, type StoredBackup } from './retention.ts';

/** The folder of all backups, 0700. */
export const backupsFolder = ({ state }: HostPaths): string => join(state, 'backups');

/** What `sno-backup list --json` prints. */
export const backupListSchema = z.object({
  schemaVersion: z.literal(1),
  hostname: z.string(),
  at: z.iso.datetime(),
  folder: z.string(),
  backups: z
    .array(
      z.object({
        name: z.string(),
        at: z.iso.datetime(),
        state: z
          .enum(['complete', 'damaged', 'newer'])
          .describe('newer: made by a newer version, never deleted by this one'),
        bytes: z.int().describe('of all files'),
        revision: z.int().optional().describe("etcd's last revision in it"),
        version: z.string().optional().describe('version of the product that made it'),
        problem: z.string().optional().describe('why it is not complete'),
      }),
    )
    .describe('oldest first'),
});

export type BackupList = z.infer<typeof backupListSchema>;
export type ListedBackup = BackupList['backups'][number];

/** What `sno-backup list --json` prints, and a log bundle has. */
export async function backupList(paths: HostPaths): Promise<BackupList> {
  return {
    schemaVersion: 1,
    hostname: hostname(),
    at: new Date().toISOString(),
    folder: paths.onHost(backupsFolder(paths)),
    backups: await listBackups(paths),
  };
}

/** The backups of this host, oldest first. Compares sizes, not contents: see verifyBackup. */
export async function listBackups(paths: HostPaths): Promise<ListedBackup[]> {
  const folder = backupsFolder(paths);
  const listed: ListedBackup[] = [];
  for (const name of await namesIn(folder)) {
    const at = timeOfBackup(name);
    if (at !== undefined) listed.push(await listedBackup(join(folder, name), name, at));
  }
  return listed;
}

async function listedBackup(path: string, name: string, at: Date): Promise<ListedBackup> {
  const common = { name, at: at.toISOString() };
  const newer = await newerSchema(path).catch(() => undefined);
  if (newer !== undefined) return { ...common, state: 'newer', bytes: 0, problem: newer };
  try {
    const { etcd, version, files } = await readManifest(path);
    let bytes = 0;
    for (const file of files) {
      const { size } = await stat(join(path, file.path));
      if (size !== file.bytes) throw new Error(`${file.path} has ${size} instead of ${file.bytes}`);
      bytes += size;
    }
    return { ...common, state: 'complete', bytes, revision: etcd.revision, version };
  } catch (error) {
    return { ...common, state: 'damaged', bytes: 0, problem: describeError(error) };
  }
}

/** Says so if a backup has the schema of a newer version. */
export async function newerSchema(path: string): Promise<string | undefined> {
  const document = parseJson(await readTextIfPresent(join(path, MANIFEST_FILE)));
  const found = isRecord(document) ? document.schemaVersion : undefined;
  return typeof found === 'number' && found > SCHEMA_VERSION
    ? `it was made by a newer version of sno-agents (schemaVersion ${found}, this one reads ${SCHEMA_VERSION})`
    : undefined;
}

/** @throws Error if it does not exist or is not one of this version. */
export async function readManifest(path: string): Promise<BackupManifest> {
  const parsed = manifestSchema.safeParse(
    parseJson(await readFile(join(path, MANIFEST_FILE), 'utf8')),
  );
  if (parsed.success) return parsed.data;
  throw new Error(`${MANIFEST_FILE}: ${schemaFaults(parsed.error)}`);
}

/** Those that the retention decides about: this version cannot judge those of a newer one. */
export const storedBackups = (all: readonly ListedBackup[]): StoredBackup[] =>
  all
    .filter(({ state }) => state !== 'newer')
    .map(({ name, at, bytes, state, revision }) => ({
      name,
      at: new Date(at),
      bytes,
      isComplete: state === 'complete',
      revision,
    }));

/** The newest of them that can be restored: by revision, since a clock may have been ahead. */
export function newestBackup(all: readonly ListedBackup[]): ListedBackup | undefined {
  const newest = newestComplete(storedBackups(all));
  return all.find(({ name }) => name === newest?.name);
}

/** Deletes backups durably. */
export async function deleteBackups(paths: HostPaths, names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  const folder = backupsFolder(paths);
  for (const name of names) await rm(join(folder, name), { recursive: true, force: true });
  await syncDirectory(folder);
}

/** Names of backups that were interrupted. */
export async function partialBackups(paths: HostPaths): Promise<string[]> {
  return (await namesIn(backupsFolder(paths))).filter(isPartial);
}
