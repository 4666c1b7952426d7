import type { Revision } from '../../../lib/cluster/openshift/revisions.ts';
import { revisionCounts, withRevisions } from '../../../lib/cluster/openshift/revisions.ts';
import { type Until, waitForOperators } from '../../../lib/cluster/openshift/wait-for-operators.ts';
import type { Progress } from '../../../lib/engine/steps/progress.ts';
import type { HostContext } from '../../steps/host-context.ts';
import { readRevisions, writeRevisions } from '../../steps/revisions.ts';

/**
 * Waits for the operators, logs each new revision of a static pod once, with its reason, and keeps
 * them for the record of the installation. Returns how many there were, for the journal.
 */
export async function waitAndLogRevisions(
  context: HostContext,
  progress: Progress,
  until: Until,
  what: string,
): Promise<string> {
  const { signal } = progress;
  const node = { nodeName: context.hostname(), bootTime: await context.bootTime(signal) };
  let known = await readRevisions(context.paths);
  const revisions = async (found: readonly Revision[]) => {
    const { all, fresh } = withRevisions(known, found);
    if (fresh.length === 0) return;
    await writeRevisions(context.paths, all);
    known = all;
    for (const { component, revision, reason } of fresh) {
      progress.say(`${component}: revision ${revision}: ${reason}`, { component, revision });
    }
  };
  await progress.wait(what, () =>
    context.withAdministrator(progress, (client) =>
      waitForOperators(client, node, until, {
        signal,
        deadlineMs: progress.remainingMs(),
        report: (observed) => progress.waitingFor(`${what}: ${observed}`),
        what,
        revisions,
      }),
    ),
  );
  return `revisions: ${revisionCounts(known)}`;
}
