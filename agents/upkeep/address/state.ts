import { z } from 'zod';
import { parseJson } from '../../../lib/base/json.ts';
import { recordPath } from '../../../lib/engine/agents/records.ts';
import { readTextIfReadable, writeFileAtomic } from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';

const stateSchema = z.object({
  schemaVersion: z.literal(1),
  /** On which interface each address of the Node was when the host had it. */
  interfaces: z.record(z.string(), z.string()),
  /** When changes of the identity were begun because an address had moved; the last ones. */
  followed: z.array(z.iso.datetime()),
  /** What the last run has found. */
  last: z.object({ registered: z.string(), found: z.string(), isMoved: z.boolean() }).optional(),
});

/** What sno-address keeps between its runs. */
export type AddressState = z.infer<typeof stateSchema>;

const NOTHING: AddressState = { schemaVersion: 1, interfaces: {}, followed: [] };

const statePath = (paths: Pick<HostPaths, 'state'>) => recordPath(paths, 'address');

/** A damaged file counts as none: its contents are determined again. */
export async function readState(paths: HostPaths): Promise<AddressState> {
  return (
    stateSchema.safeParse(parseJson((await readTextIfReadable(statePath(paths))) ?? '')).data ??
    NOTHING
  );
}

export async function updateState(paths: HostPaths, changed: Partial<AddressState>): Promise<void> {
  const next = { ...(await readState(paths)), ...changed };
  await writeFileAtomic(statePath(paths), `${JSON.stringify(next)}\n`, 0o600);
}
