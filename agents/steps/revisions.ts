import { join } from 'node:path';
import { z } from 'zod';
import { type Revision, revisionSchema } from '../../lib/cluster/openshift/revisions.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import { stateFile } from '../../lib/host/state-file.ts';

/** Below the state of the agent that waits for the operators; `retire` deletes it. */
const file = ({ state }: HostPaths) =>
  stateFile(join(state, 'post-reboot/revisions.json'), z.array(revisionSchema), {
    // Only told, like the restarts.
    damaged: 'none-if-read',
    mode: 0o644,
  });

/** The revisions that the operators of OpenShift were seen to make; none on other hosts. */
export const readRevisions = async (paths: HostPaths): Promise<readonly Revision[]> =>
  (await file(paths).read()) ?? [];

export const writeRevisions = (paths: HostPaths, revisions: readonly Revision[]): Promise<void> =>
  file(paths).write([...revisions]);
