import { join } from 'node:path';
import { z } from 'zod';
import { failureDataSchema } from '../../base/errors/failure-data.ts';
import type { HostPaths } from '../../host/paths.ts';
import { changeOnRequest } from '../change.ts';
import { updateManifestSchema } from './manifest.ts';

const requestSchema = z.object({
  schemaVersion: z.literal(1),
  /** Also of its trial. */
  id: z.uuid(),
  at: z.iso.datetime(),
  /** A folder of this host or a URL. */
  from: z.string(),
  /** Of the Site of a hub that has asked for it; undefined: a person has. */
  asked: z.int().optional(),
  /** What the host ran before; earlier releases did not write it, and took no other minor version. */
  before: z.object({ kubernetes: z.string(), etcd: z.string() }).optional(),
  /** Names of those that the host had; earlier releases did not write them. None of them is that of this update. */
  backups: z.array(z.string()).optional(),
  /** Its signature was verified. */
  manifest: updateManifestSchema,
  /** Fingerprint of the key that signed it. */
  signedBy: z.string(),
  /** Why it failed before anything was changed; of one that has ended otherwise, what is left of it to be done. */
  failure: failureDataSchema.optional(),
});

/** An update that was asked for and has not ended. */
export type UpdateRequest = z.infer<typeof requestSchema>;

const resultSchema = requestSchema.extend({
  endedAt: z.iso.datetime(),
  outcome: z.enum(['updated', 'refused', 'reverted']),
});

/** How the last update ended. `refused`: it failed before anything was changed. */
export type UpdateResult = z.infer<typeof resultSchema>;

/** Everything that an update keeps on the host until its end. */
export const updateFolder = ({ state }: Pick<HostPaths, 'state'>) => join(state, 'sno-update');
export const updateChange = changeOnRequest({
  records: { request: 'update-request', result: 'update' },
  request: requestSchema,
  result: resultSchema,
  writtenBy: 'sno-update run --from',
  underWay: 'an update is under way',
  status: 'sno-update status',
});
