import { Failure } from '../../../lib/base/errors/failure.ts';
import type { ChangeStep } from '../../../lib/change/or-back.ts';
import type { Prepared } from '../../../lib/change/update/prepared.ts';
import type { Container } from '../../../lib/clients/cri/messages.ts';
import { connectHostRuntime } from '../../../lib/clients/cri/runtime.ts';
import { waitForContainers } from '../../../lib/clients/cri/wait.ts';
import { applyChanged } from '../../../lib/clients/kube/apply-changed.ts';
import { decodeManifests } from '../../../lib/clients/kube/manifest-decoding.ts';
import { LEADER_LEASES } from '../../../lib/cluster/steady/leases.ts';
import { scheduledShutdown } from '../../../lib/cluster/steady/planned-restart.ts';
import { verdictText } from '../../../lib/cluster/steady/verdict.ts';
import { waitSteady } from '../../../lib/cluster/steady/wait.ts';
import type { Progress } from '../../../lib/engine/steps/progress.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import { bootMoment } from '../../../lib/host/boot.ts';
import { type Payload, readPayload } from '../../../lib/payload/payload.ts';
import { components } from '../../../lib/render/kubernetes/static-pod.ts';
import { awaitApi } from '../../steps/await-api.ts';
import { staticPodsNeed, withCauses } from '../../steps/causes.ts';
import { forgetEndedLeaders } from '../../steps/ended-leaders.ts';
import type { UpdateContext } from './context.ts';
import { presentManifestsRun } from './mirror-pods.ts';
import { inTurn, replacePodsOfNode } from './nodes-in-turn.ts';
import { loadPrepared } from './prepare.ts';

/**
 * Waits until the control plane runs the images of the payload, brings the add-ons up to date, and waits until nothing
 * changes any more. The runtime is asked first: until then the API may still show the earlier control plane.
 */
export const settleUpdate: ChangeStep<UpdateContext> = {
  name: 'settle',
  leaves: 'a steady host with the control plane and the add-ons of the payload',
  touches: ['api', 'runtime', 'clock'],
  // It must be seen in this boot, for the whole window.
  neededUntil: 'confirm',
  holds: async () => true,
  async run(context, progress) {
    const { manifests } = await loadPrepared(context);
    await waitUntilSettled(context, progress, manifests);
    return done('nothing changes any more');
  },
};

/**
 * Until the control plane runs the images of the payload by the manifests on the host, and nothing changes any more.
 * `addOns`: manifests that are brought up to date meanwhile.
 */
export async function waitUntilSettled(
  context: UpdateContext,
  progress: Progress,
  addOns: Prepared['manifests'] = [],
): Promise<void> {
  await controlPlaneRuns(context, await readPayload(context.paths.payload), progress);
  await awaitApi(context, progress);
  // The earlier leaders do not release their Leases, and their successors would wait for a minute.
  await forgetEndedLeaders(context, progress);
  await context.withAdministrator(progress, async (client) => {
    await presentManifestsRun(client, context, progress);
    // Again: if only the manifest has changed, the earlier leaders end only now.
    await forgetEndedLeaders(context, progress);
    const limits = { signal: progress.signal, deadlineMs: progress.remainingMs() };
    const objects = addOns.flatMap(
      ({ name, contents }) => decodeManifests(name, contents).manifests,
    );
    const node = context.hostname();
    const applied = await inTurn(client, objects, node, limits);
    await applyChanged(client, applied, limits);
    if (applied !== objects) {
      const report = (text: string) => progress.waitingFor(text);
      await replacePodsOfNode(client, applied, node, { ...limits, report });
    }
    const { boot: bootId } = await bootMoment();
    const verdict = await waitSteady(
      client,
      {
        nodeName: node,
        bootTime: await context.bootTime(progress.signal),
        leases: LEADER_LEASES.kubernetes,
      },
      {
        windowMs: context.settings.updateWindowMs,
        bootId,
        scheduled: () => scheduledShutdown(context.paths),
        report: (text) => progress.waitingFor(text),
        ...limits,
      },
    );
    if (verdict.state === 'steady') return;
    throw new Failure('deadline', 'the host did not settle with the update', {
      expected: `no change for ${context.settings.updateWindowMs / 1000} s`,
      found: verdictText(verdict),
    });
  });
}

async function controlPlaneRuns(
  context: UpdateContext,
  payload: Payload,
  progress: Progress,
): Promise<void> {
  const description = 'the control plane to run the images of the payload';
  using runtime = connectHostRuntime(context.paths);
  await progress.wait(description, () =>
    withCauses(context, staticPodsNeed(...components), progress, ({ signal }) =>
      waitForContainers(runtime, (containers) => runsImages(containers, payload), {
        description,
        signal,
        deadlineMs: progress.remainingMs(),
        report: (text) => progress.waitingFor(text),
      }),
    ),
  );
}

/** Whether each component runs from the payload's image, and from no other one. */
export const runsImages = (
  containers: readonly Pick<Container, 'name' | 'state' | 'imageRef'>[],
  { images }: Pick<Payload, 'images'>,
): boolean =>
  components.every((component) => {
    const id = images.find(({ name }) => name === component)?.id.replace('sha256:', '');
    const running = containers.filter(
      ({ name, state }) => name === component && state === 'running',
    );
    return (
      id !== undefined &&
      running.length > 0 &&
      running.every(({ imageRef }) => imageRef.includes(id))
    );
  });
