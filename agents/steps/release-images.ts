import { openShiftRelease } from '../../lib/config/cluster/cluster.ts';
import { judgeRelease, productOf } from '../../lib/config/openshift/judge-release.ts';
import type { Progress } from '../../lib/engine/steps/progress.ts';
import { done, type Outcome } from '../../lib/engine/steps/step.ts';
import { runNamedUnit } from '../../lib/host/named-unit.ts';
import { hasRelease, pullRelease } from '../../lib/render/openshift/images.ts';
import { hostPodman } from '../../lib/render/openshift/podman.ts';
import type { PlainHost } from './host-context.ts';

/** Pulls the release image and the images whose render programs the step render runs. */
export async function pullReleaseImages(
  { cluster }: PlainHost,
  progress: Progress,
): Promise<Outcome> {
  const named = openShiftRelease(cluster);
  const { release, images } = await progress.wait('the images of the release', () =>
    pullRelease(hostPodman(runNamedUnit), named, {
      signal: progress.signal,
      deadlineMs: progress.remainingMs(),
      report: (text) => progress.waitingFor(text),
    }),
  );
  if (!release.reference.includes('@')) {
    progress.warn(`The release image has no digest in podman's storage; its tag is used`);
  }
  const judged = judgeRelease('render', release.version, named.unknownReleaseAccepted === true);
  if (judged.ok && judged.notice !== undefined) progress.warn(`${judged.notice}.`);
  return done(`${productOf(release.version)} ${release.version}, ${images} images`);
}

/** Whether podman has all of them. */
export function releaseIsPulled({ cluster }: PlainHost, signal: AbortSignal): Promise<boolean> {
  return hasRelease(hostPodman(runNamedUnit), openShiftRelease(cluster), signal);
}
