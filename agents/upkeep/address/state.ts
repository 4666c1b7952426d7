import { z } from 'zod';
import { recordPath } from '../../../lib/engine/agents/records.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { stateFile } from '../../../lib/host/state-file.ts';

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

const file = (paths: Pick<HostPaths, 'state'>) =>
  stateFile(recordPath(paths, 'address'), stateSchema, { damaged: 'none' });

/** A damaged file counts as none: its contents are determined again. */
export const readState = async (paths: HostPaths): Promise<AddressState> =>
  (await file(paths).read()) ?? NOTHING;

export const updateState = async (
  paths: HostPaths,
  changed: Partial<AddressState>,
): Promise<void> => file(paths).write({ ...(await readState(paths)), ...changed });
