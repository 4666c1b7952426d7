import { join } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../../base/json.ts';
import { namesIn, readTextIfReadable, removeFile, writeFileAtomic } from '../../host/files.ts';
import type { HostPaths } from '../../host/paths.ts';
import { daysMs, lifetimes } from '../../pki/lifetimes.ts';
import type { AllowedMember } from './entry.ts';

const memberSchema = z.object({
  schemaVersion: z.literal(1),
  name: z.string(),
  nodeUid: z.string().min(1),
  addresses: z.array(z.string()).min(1),
  expires: z.iso.datetime().transform((text) => new Date(text)),
});

/** One file for each: sno-approve and sno-renew write them independently. */
const membersFolder = ({ state }: HostPaths) => join(state, 'sno-approve', 'members');
const memberPath = (paths: HostPaths, name: string) => join(membersFolder(paths), `${name}.json`);

/** A damaged file counts as none: its worker needs an entry again. */
export async function readMembers(paths: HostPaths): Promise<readonly AllowedMember[]> {
  const members: AllowedMember[] = [];
  for (const file of await namesIn(membersFolder(paths))) {
    const text = await readTextIfReadable(join(membersFolder(paths), file));
    const { success, data } = memberSchema.safeParse(parseJson(text));
    if (!success || file !== `${data.name}.json`) continue;
    const { name, nodeUid, addresses, expires } = data;
    members.push({ name, nodeUid, addresses, expires });
  }
  return members;
}

/** Records that a serving certificate was approved now. It expires with the longest lifetime that is approved. */
export async function recordMember(
  paths: HostPaths,
  member: Omit<AllowedMember, 'expires'>,
  now: Date,
): Promise<void> {
  const expires = new Date(now.getTime() + daysMs(lifetimes.leafDays)).toISOString();
  const { name, nodeUid, addresses } = member;
  const contents = { schemaVersion: 1, name, nodeUid, addresses, expires };
  await writeFileAtomic(memberPath(paths, name), `${JSON.stringify(contents)}\n`, 0o600);
}

/** Forgets a worker: only an entry allows it again. */
export async function forgetMember(paths: HostPaths, name: string): Promise<void> {
  await removeFile(memberPath(paths, name));
}
