import { z } from 'zod';
import { recordPath } from '../../../engine/agents/records.ts';
import type { HostPaths } from '../../../host/paths.ts';
import { stateFile } from '../../../host/state-file.ts';

const stateSchema = z.object({
  schemaVersion: z.literal(1),
  /** SHA-256 of the backup-to.json that the rest is about. */
  target: z.string(),
  /** The newest backup that was read back from the store, and is whole there. */
  stored: z
    .object({
      name: z.string(),
      at: z.iso.datetime(),
      /** Without secrets. */
      url: z.string(),
      bytes: z.int(),
      sha256: z.string().describe('of what is stored'),
    })
    .optional(),
  /** Why a newer one is not there. */
  failed: z
    .object({
      /** Of the first attempt since the last success. */
      since: z.iso.datetime(),
      at: z.iso.datetime(),
      name: z.string(),
      what: z.string(),
      found: z.string().optional(),
      fix: z.string().optional(),
    })
    .optional(),
});

/** What is known of the backups that have left this host: no secrets. */
export type PushState = z.infer<typeof stateSchema>;

const file = (paths: Pick<HostPaths, 'state'>) =>
  stateFile(recordPath(paths, 'backup-push'), stateSchema, { damaged: 'none', folderMode: 0o700 });

/** Undefined if nothing was tried yet; a damaged file counts as none, and the newest backup is sent again. */
export const readPushState = (paths: Pick<HostPaths, 'state'>): Promise<PushState | undefined> =>
  file(paths).read();

export const writePushState = (paths: Pick<HostPaths, 'state'>, state: PushState): Promise<void> =>
  file(paths).write(state);
