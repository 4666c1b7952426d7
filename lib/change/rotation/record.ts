import { z } from 'zod';
import { parseJson } from '../../base/json.ts';
import { recordPath } from '../../engine/agents/records.ts';
import { readTextIfPresent, writeFileAtomic } from '../../host/files.ts';
import type { HostPaths } from '../../host/paths.ts';
import { type RotationRequest, whatSchema } from './request.ts';

const recordSchema = z.object({
  schemaVersion: z.literal(1),
  /** Of the request. */
  id: z.string(),
  requested: z.iso.datetime(),
  ended: z.iso.datetime(),
  what: whatSchema,
  /** What was restarted: programs of the control plane, the kubelet, sno-deferred. */
  restarted: z.array(z.string()),
});

/** The last rotation that ended. */
export type RotationRecord = z.infer<typeof recordSchema>;

const lastPath = (paths: HostPaths) => recordPath(paths, 'rotation');

export async function readRecord(paths: HostPaths): Promise<RotationRecord | undefined> {
  const text = await readTextIfPresent(lastPath(paths));
  return recordSchema.safeParse(parseJson(text ?? '')).data;
}

/** Whether everything of a request is done, except for deleting what it kept. */
export const isRecorded = async (paths: HostPaths, { id }: RotationRequest): Promise<boolean> =>
  (await readRecord(paths))?.id === id;

export async function writeRecord(
  paths: HostPaths,
  { id, at, what }: RotationRequest,
  restarted: string[],
): Promise<void> {
  const ended = new Date().toISOString();
  const record: RotationRecord = { schemaVersion: 1, id, requested: at, ended, what, restarted };
  await writeFileAtomic(lastPath(paths), `${JSON.stringify(record, null, 2)}\n`, 0o600);
}
