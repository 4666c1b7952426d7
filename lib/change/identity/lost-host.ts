import { dirname, join } from 'node:path';
import { z } from 'zod';
import { recordPath } from '../../engine/agents/records.ts';
import type { HostPaths } from '../../host/paths.ts';
import { stateFile, stateText } from '../../host/state-file.ts';

/** What an Ignition config brings to a host that continues the cluster of a lost one: `request.json`. */
const lostHostSchema = z.object({
  schemaVersion: z.literal(1),
  /** Take over the authorities of the lost host: what they have signed stays good. */
  keepsAuthorities: z.boolean(),
});

export type LostHost = z.infer<typeof lostHostSchema>;

/** Written by Ignition, and deleted once the backup is among those of the host. */
export const lostHostPlaces = (paths: Pick<HostPaths, 'state'>) => {
  const request = recordPath(paths, 'lost-host');
  const folder = dirname(request);
  return {
    folder,
    request,
    /** A portable backup (lib/change/backup/portable) in the clear. */
    backup: join(folder, 'backup.tar'),
  } as const;
};

export const lostHostText = (lost: Omit<LostHost, 'schemaVersion'>): string =>
  stateText({ schemaVersion: 1, ...lost } satisfies LostHost, false);

/** Undefined on a host that is installed for itself. @throws Failure (fatal) if the file is damaged. */
export const readLostHost = (paths: HostPaths): Promise<LostHost | undefined> =>
  stateFile(lostHostPlaces(paths).request, lostHostSchema, {
    damaged: {
      expected: 'a request as "sno create restore-ignition" writes it',
      fix: 'Create the Ignition config with it again, and install the host with that.',
    },
  }).read();
