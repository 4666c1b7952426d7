import { z } from 'zod';

/** Files of a backup, in its folder. */
export const MANIFEST_FILE = 'manifest.json';
export const DATABASE_FILE = 'etcd-snapshot.db';

/** Increased when a backup needs another restore. */
export const SCHEMA_VERSION = 1;

const fileSchema = z.object({
  path: z.string().describe('relative to the folder of the backup'),
  host: z.string().startsWith('/').optional().describe('where the file is on the host'),
  mode: z.int().describe('permissions on the host'),
  bytes: z.int(),
  sha256: z.string(),
});

/** `manifest.json` of a backup, written last. */
export const manifestSchema = z.object({
  schemaVersion: z.literal(SCHEMA_VERSION),
  version: z.string().describe('version of the product that made it'),
  clusterId: z.string(),
  hostname: z.string(),
  at: z.iso.datetime(),
  etcd: z.object({
    version: z.string().describe('storage version'),
    revision: z.int().describe('the last revision in the snapshot'),
    hashKv: z
      .object({
        hash: z.int(),
        compactRevision: z.int().describe('the compaction for which it was computed'),
      })
      .optional()
      .describe('of the running etcd at that revision, for support; not after a compaction'),
    totalKey: z.int().describe('revisions of keys in the snapshot'),
  }),
  files: z.array(fileSchema),
});

export type BackupFile = z.infer<typeof fileSchema>;
export type BackupManifest = z.infer<typeof manifestSchema>;

/** Bytes of all files. */
export const sizeOf = ({ files }: Pick<BackupManifest, 'files'>): number =>
  files.reduce((sum, { bytes }) => sum + bytes, 0);

/** Folder names are UTC times, to the second, so that they sort by age. */
const NAME = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/;
const PARTIAL = '.partial';

export const backupName = (at: Date): string =>
  `${at.toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`;

/** When the backup of that name was made; undefined if it is not the name of a backup. */
export function timeOfBackup(name: string): Date | undefined {
  const [, ...parts] = NAME.exec(name) ?? [];
  if (parts.length === 0) return undefined;
  const [year, month, day, hour, minute, second] = parts;
  const at = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(at.getTime()) ? undefined : at;
}

/** The folder in which a backup is made, until it is complete. */
export const partialName = (name: string): string => `${name}${PARTIAL}`;

export const isPartial = (name: string): boolean =>
  name.endsWith(PARTIAL) && timeOfBackup(name.slice(0, -PARTIAL.length)) !== undefined;
