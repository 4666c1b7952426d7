import { join } from 'node:path';
import { z } from 'zod';
import { failureDataSchema } from '../../base/errors/failure-data.ts';
import { recordPath } from '../../engine/agents/records.ts';
import type { HostPaths } from '../../host/paths.ts';
import { requestsOf } from '../requests.ts';
import { updateManifestSchema } from './manifest.ts';

const requestSchema = z.object({
  schemaVersion: z.literal(1),
  /** Also of its trial. */
  id: z.uuid(),
  at: z.iso.datetime(),
  /** A folder of this host or a URL. */
  from: z.string(),
  /** Its signature was verified. */
  manifest: updateManifestSchema,
  /** Fingerprint of the key that signed it. */
  signedBy: z.string(),
  /** Why it failed before anything was changed. */
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
/** The unit has the condition that this file exists. */
export const requestPath = (paths: Pick<HostPaths, 'state'>) => recordPath(paths, 'update-request');
const resultPath = (paths: HostPaths) => recordPath(paths, 'update');

export const { readRequest, writeRequest, readResult, recordFailure, endRequest } = requestsOf({
  requestPath,
  resultPath,
  request: requestSchema,
  result: resultSchema,
  writtenBy: 'sno-update run --from',
});
