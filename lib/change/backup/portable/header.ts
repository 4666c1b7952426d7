import { z } from 'zod';
import { payloadSchema } from '../../../payload/payload.ts';
import { renderInputSchema } from '../../../render/render-input.ts';
import { manifestSchema } from '../manifest.ts';

/** The first entry of a portable backup. The files of its manifest follow, in that order. */
export const HEADER_FILE = 'backup.json';

/**
 * Increased when such a backup needs another restore, or an earlier release cannot read it. Since 2, its signature follows
 * the header.
 */
export const HEADER_VERSION = 2;

/**
 * `backup.json`: everything besides etcd's snapshot and the keys that another host needs to continue
 * the cluster. The contents of persistent volumes are not part of a backup.
 */
export const headerSchema = z.object({
  schemaVersion: z.literal([1, HEADER_VERSION]),
  version: z.string().describe('version of the product that wrote it'),
  at: z.iso.datetime(),
  renderInput: renderInputSchema.describe('what the control plane was rendered from'),
  settings: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('settings.json, if there was one'),
  laptopAdminCa: z
    .string()
    .optional()
    .describe('PEM; the authority of the first kubeconfig, while the host trusts it'),
  pullSecret: z
    .string()
    .optional()
    .describe('JSON, as container tools store it; backups of earlier releases do not have it'),
  payload: z.object({
    sha256: z.string().describe('of payload.yaml'),
    description: payloadSchema.describe('payload.yaml, with the digest of every file'),
  }),
  manifest: manifestSchema.describe('of the backup, with the digest of every file that follows'),
});

export type PortableHeader = z.infer<typeof headerSchema>;
