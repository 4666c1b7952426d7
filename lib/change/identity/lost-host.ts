import { dirname, join } from 'node:path';
import { z } from 'zod';
import { Failure } from '../../base/errors/failure.ts';
import { parseJson } from '../../base/json.ts';
import { recordPath } from '../../engine/agents/records.ts';
import { readTextIfPresent } from '../../host/files.ts';
import type { HostPaths } from '../../host/paths.ts';

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
  `${JSON.stringify({ schemaVersion: 1, ...lost } satisfies LostHost)}\n`;

/** Undefined on a host that is installed for itself. @throws Failure (fatal) if the file is damaged. */
export async function readLostHost(paths: HostPaths): Promise<LostHost | undefined> {
  const { request } = lostHostPlaces(paths);
  const text = await readTextIfPresent(request);
  if (text === undefined) return undefined;
  const parsed = lostHostSchema.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  throw new Failure('fatal', `${paths.onHost(request)} cannot be used`, {
    expected: 'a request as "sno create restore-ignition" writes it',
    found: z.prettifyError(parsed.error),
  });
}
