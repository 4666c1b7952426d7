import { z } from 'zod';
import { backupFiles } from '../../render/kubernetes/backup-files.ts';

/** Files of a backup, in its folder. */
export const MANIFEST_FILE = 'manifest.json';
export const DATABASE_FILE = 'etcd-snapshot.db';

/** Increased when a backup needs another restore. */
export const SCHEMA_VERSION = 1;

/** Far above any key or certificate: each is read into memory as a whole. */
const MAX_KEY_BYTES = 2 ** 20;
/** Read and write for root, read for others; nothing that runs, and nothing that others write. */
const MOST_PERMISSIONS = 0o644;

/** A value of a manifest in an error: in one line, and cut. */
const quoted = (value: unknown): string => JSON.stringify(value)?.slice(0, 200) ?? 'nothing';

const fileSchema = z
  .object({
    path: z.string().describe('relative to the folder of the backup'),
    host: z
      .enum(backupFiles, {
        error: ({ input }) =>
          `expected a file of the host that a backup contains, found ${quoted(input)}`,
      })
      .optional()
      .describe('where the file is on the host'),
    mode: z
      .int()
      .refine((mode) => (mode & ~MOST_PERMISSIONS) === 0, {
        error: ({ input }) => `expected permissions of at most 0644, found ${octal(input)}`,
      })
      .describe('permissions on the host, at most 0644'),
    bytes: z.int().nonnegative(),
    sha256: z.string(),
  })
  .refine(({ path, host }) => path === nameOf(host), {
    error: ({ input }) => `expected the name of a file of a backup, found ${quoted(input)}`,
    path: ['path'],
  })
  .refine(({ host, bytes }) => host === undefined || bytes <= MAX_KEY_BYTES, {
    error: `expected a key or certificate of at most ${MAX_KEY_BYTES} bytes`,
    path: ['bytes'],
  });

const nameOf = (host: string | undefined) => (host === undefined ? DATABASE_FILE : copyName(host));

const octal = (mode: unknown) => (typeof mode === 'number' ? `0${mode.toString(8)}` : quoted(mode));

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
  files: z
    .array(fileSchema)
    .refine((files) => new Set(files.map(({ path }) => path)).size === files.length, {
      error: 'a file is listed twice',
    })
    .refine((files) => files.some(({ path }) => path === DATABASE_FILE), {
      error: `${DATABASE_FILE} is not listed`,
    }),
});

export type BackupFile = z.infer<typeof fileSchema>;
export type BackupManifest = z.infer<typeof manifestSchema>;

/** The name in a backup of the copy of a file; `host`: its path on the host. */
export const copyName = (host: string): string => `host${host}`;

/** With which permissions a restore writes a file: those that a rendered host has, for others or for root alone. */
export const restoredMode = (mode: number): 0o600 | 0o644 => ((mode & 0o004) === 0 ? 0o600 : 0o644);

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
