import { join } from 'node:path';
import { z } from 'zod';
import { type Revision, revisionSchema } from '../../lib/cluster/openshift/revisions.ts';
import { readTextIfPresent, writeFileAtomic } from '../../lib/host/files.ts';
import type { HostPaths } from '../../lib/host/paths.ts';

/** Below the state of the agent that waits for the operators; `retire` deletes it. */
const revisionsPath = ({ state }: HostPaths) => join(state, 'post-reboot/revisions.json');

/** The revisions that the operators of OpenShift were seen to make; none on other hosts. */
export async function readRevisions(paths: HostPaths): Promise<readonly Revision[]> {
  const text = await readTextIfPresent(revisionsPath(paths));
  return text === undefined ? [] : z.array(revisionSchema).parse(JSON.parse(text));
}

export async function writeRevisions(
  paths: HostPaths,
  revisions: readonly Revision[],
): Promise<void> {
  await writeFileAtomic(revisionsPath(paths), `${JSON.stringify(revisions)}\n`, 0o644);
}
