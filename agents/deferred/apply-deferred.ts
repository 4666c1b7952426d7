import { Failure } from '../../lib/base/errors/failure.ts';
import { waitForApi } from '../../lib/clients/kube/api-ready.ts';
import { applyManifests, type LongestPauses } from '../../lib/clients/kube/apply.ts';
import { KubeClient } from '../../lib/clients/kube/client.ts';
import { deferredFolder, readDeferred } from '../../lib/cluster/deferred/manifests.ts';
import type { Progress } from '../../lib/engine/steps/progress.ts';
import { done } from '../../lib/engine/steps/step.ts';
import type { StepBody } from '../../lib/engine/steps/within.ts';
import { deferredAccessOf } from '../../lib/render/deferred-identity.ts';
import type { DeferredContext } from './context.ts';
import { DeferredObjects } from './deferred-objects.ts';
import { isApplied, isRejected } from './object-state.ts';

/** New kinds are detected by watching; polling is a fallback. A refusal may last for days. */
const pauses: LongestPauses = { unservedMs: 900_000, refusedMs: 60_000 };

/**
 * Creates each deferred object once its kind is served, and leaves one that exists. None
 * holds up the others. It ends when all are applied or rejected, or at the expiry.
 */
export const applyDeferred: StepBody<DeferredContext> = {
  name: 'apply',
  leaves: 'every deferred manifest as an API object, its state in kube-system/sno-deferred',
  touches: ['disk', 'api', 'clock'],
  retries: true,
  input: ({ expires }) => expires.toISOString(),
  holds: async ({ paths }) => (await readDeferred(paths)).length === 0,
  async run(context, progress) {
    const { paths, cluster } = context;
    const deferred = await readDeferred(paths);
    if (deferred.length === 0) return done('nothing left to apply');
    using client = new KubeClient(await deferredAccessOf(cluster.controlPlane, paths));
    await untilReady(client, context, progress);
    const objects = new DeferredObjects(client, deferred, progress);
    await objects.load();
    await applyUntilExpiry(client, objects, context, progress);
    if (!objects.isPublished) {
      await untilReady(client, context, progress);
      await objects.publish({ isReady: true });
    }
    conclude(objects, context);
    return done(`${deferred.length} applied`);
  },
};

/** Right after its start the API server may reject requests, which would count as rejections of the objects. */
function untilReady(client: KubeClient, context: DeferredContext, progress: Progress) {
  return progress.wait('the API server to be ready', (wait) =>
    waitForApi(client, {
      ...wait,
      deadlineMs: Math.max(leftMs(context), context.settings.apiMs),
    }),
  );
}

async function applyUntilExpiry(
  client: KubeClient,
  objects: DeferredObjects,
  context: DeferredContext,
  progress: Progress,
): Promise<void> {
  const what = `deferred manifests, until ${context.expires.toISOString()}`;
  await progress.wait(what, (wait) =>
    applyManifests(
      client,
      { manifests: objects.open(), faults: [] },
      {
        ...wait,
        deadlineMs: leftMs(context),
        // In the user's order.
        concurrency: 1,
        attempted: (manifest, attempt) => objects.attempted(manifest, attempt),
        longestPauses: pauses,
      },
    ),
  );
  if (leftMs(context) <= 0) await objects.expire();
}

function conclude(objects: DeferredObjects, { paths, expires }: DeferredContext): void {
  const folder = deferredFolder(paths);
  const open = objects.phrases((state) => !isApplied(state) && !isRejected(state));
  const rejected = objects.phrases(isRejected);
  if (open.length > 0) {
    throw new Failure('deadline', `${count(open)} not applied by ${expires.toISOString()}`, {
      found: [...open, ...rejected].join('; '),
      fix: `Once their kinds are served, run "sno-deferred run --expires-in-hours 24"; to give one up, delete its file from ${folder} before that.`,
    });
  }
  if (rejected.length > 0) {
    throw new Failure('fatal', `${count(rejected)} rejected`, {
      found: rejected.join('; '),
      fix: `Apply corrected objects yourself, or delete the files from ${folder}, and start sno-deferred.service again.`,
    });
  }
  if (!objects.isPublished) throw new Failure('retry', 'the status ConfigMap is not written yet');
}

const count = ({ length }: readonly string[]) =>
  `${length} deferred ${length === 1 ? 'manifest was' : 'manifests were'}`;

const leftMs = ({ expires }: DeferredContext) => expires.getTime() - Date.now();
