import { z } from 'zod';
import type { HostPaths } from '../../../host/paths.ts';
import { stateFile } from '../../../host/state-file.ts';
import { inPlacePlaces } from './places.ts';

const stagedSchema = z.strictObject({
  clusterId: z.uuid(),
  /**
   * `staging`: files are written beside their places, and nothing uses them. `committing`: they are moved, and whoever
   * finds this state goes on with that.
   */
  state: z.enum(['staging', 'committing']),
  /** `staged`: where the contents are until they are moved to `path`; `sha256` of them, hex. */
  files: z.array(z.strictObject({ path: z.string(), staged: z.string(), sha256: z.string() })),
  /** Those that were made for them, which have the label of the folder above. */
  folders: z.array(z.string()),
  links: z.array(z.strictObject({ path: z.string(), target: z.string() })),
  /** Units. */
  enabled: z.array(z.string()),
  disabled: z.array(z.string()),
});

/** The installed system before it is one: paths as the host sees them once nothing covers the disk. */
export type StagedSystem = z.infer<typeof stagedSchema>;

export const stagedFile = (disk: HostPaths) =>
  stateFile(inPlacePlaces(disk).staged, stagedSchema, {
    damaged: {
      expected: 'the list of what was written to the disk',
      fix: 'Write the image to this disk again, with an Ignition config of its own.',
    },
  });
