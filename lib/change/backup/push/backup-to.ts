import { z } from 'zod';
import { pem, secureUrl } from '../../../engine/report/report-to.ts';

/** The name of the file, beside install-config.yaml or site-config.yaml and on a volume. */
export const BACKUP_TO = 'backup-to.json';

const common = {
  apiVersion: z.literal('sno-agents/v1'),
  kind: z.literal('BackupTo'),
  recipients: z
    .array(z.string().max(8192))
    .min(1)
    .max(16)
    .describe('who can read the backups: public keys of age'),
  certificateAuthority: pem.optional().describe('instead of those that the system trusts'),
} as const;

/** A bucket of a store that speaks the protocol of S3, addressed by paths. */
export const s3Schema = z.strictObject({
  ...common,
  s3: z.strictObject({
    endpoint: secureUrl.describe('of the store, without the bucket'),
    bucket: z.string().regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/),
    region: z
      .string()
      .regex(/^[a-z0-9-]{1,64}$/)
      .default('us-east-1'),
    prefix: z
      .string()
      .regex(/^(?:[A-Za-z0-9][A-Za-z0-9._-]*\/)*$/)
      .max(512)
      .default('')
      .describe('before the names of all backups; it ends with /'),
    accessKeyId: z.string().regex(/^[A-Za-z0-9._-]{1,128}$/),
    secretAccessKey: z.string().regex(/^[!-~]{1,1024}$/),
  }),
});

/** A folder of any server that takes files by PUT. */
export const urlSchema = z.strictObject({
  ...common,
  url: secureUrl.describe('of a folder; it ends with /'),
  token: z
    .string()
    .regex(/^[!-~]{1,4096}$/)
    .optional()
    .describe('sent as Authorization: Bearer'),
});

/** Where a host stores its backups, encrypted. It contains a key or a token. */
export const backupToSchema = z.union([s3Schema, urlSchema]);
export type BackupTo = z.infer<typeof backupToSchema>;
