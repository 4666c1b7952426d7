import { Failure } from '../../../../lib/base/errors/failure.ts';
import type { Limits } from '../../../../lib/base/wait/limits.ts';
import {
  type NotMet,
  orError,
  type Seen,
  waitUntil,
} from '../../../../lib/base/wait/wait-until.ts';
import type { ChangeStep } from '../../../../lib/change/or-back.ts';
import type { KubeClient } from '../../../../lib/clients/kube/client.ts';
import { whyNodeNotReady } from '../../../../lib/clients/kube/node-ready.ts';
import { resources } from '../../../../lib/clients/kube/resources.ts';
import { done } from '../../../../lib/engine/steps/step.ts';
import { sinceMonotonicMs, unitProperties } from '../../../../lib/host/systemd.ts';
import { readPayload } from '../../../../lib/payload/payload.ts';
import { Causes, kubeletNeeds } from '../../../steps/causes.ts';
import { asNode } from '../../../steps/own-node.ts';
import { REQUEST_DEADLINE_MS } from '../../../steps/request-deadline.ts';
import type { UpdatedHost } from '../context.ts';
import { addOnsSeen, replaceAddOns } from './add-ons.ts';

/** systemd announces no restarts of units, so the state of the kubelet is polled, and everything else with it. */
const LOOK_EVERY_MS = 2000;
const KUBELET = 'kubelet.service';

/**
 * Has the add-ons' pods replaced by those of the payload, and waits until the Node is Ready with the kubelet of the payload, and
 * until neither that kubelet nor an add-on has been replaced for the window.
 */
export const settleWorker: ChangeStep<UpdatedHost> = {
  name: 'settle',
  leaves: 'a Node that is Ready with the kubelet of the payload, and steady',
  touches: ['api', 'systemd', 'clock'],
  // It must be seen in this boot, for the whole window.
  neededUntil: 'confirm',
  holds: async () => true,
  async run(context, progress) {
    const { paths, settings } = context;
    const payload = await readPayload(paths.payload);
    const causes = new Causes(paths, kubeletNeeds, progress);
    const notSettled = ({ state }: NotMet) =>
      new Failure('deadline', 'the worker did not settle with the update', {
        expected: `no change for ${settings.updateWindowMs / 1000} s`,
        found: state,
      });
    const steady = steadyFor(settings.updateWindowMs);
    const { kubernetes } = payload.versions;
    let isReplaced = false;
    const look = orError(async ({ signal }) => {
      const limits = { signal, deadlineMs: REQUEST_DEADLINE_MS };
      using client = await asNode(context);
      const kubelet = await kubeletSeen(client, context.hostname(), kubernetes, limits);
      if (!('met' in kubelet)) return kubelet;
      // Not before: until the payload is imported, their images are missing.
      if (!isReplaced) await replaceAddOns(client, context.hostname(), payload, limits);
      isReplaced = true;
      const addOns = await addOnsSeen(client, context.hostname(), payload, limits);
      return 'met' in addOns ? { met: `${kubelet.met} ${addOns.met}` } : addOns;
    });
    await progress.wait(`the node to be steady with the kubelet ${kubernetes}`, (wait) =>
      waitUntil(
        async (limits) => {
          await causes.look(limits.signal);
          return steady(await look(limits));
        },
        {
          ...wait,
          everyMs: LOOK_EVERY_MS,
          late: notSettled,
        },
      ),
    );
    return done('nothing changes any more');
  },
};

/** Met once the same was seen for that long. */
function steadyFor(windowMs: number): (seen: Seen<string>) => Seen<undefined> {
  let since: { readonly what: string; readonly atMs: number } | undefined;
  return (seen) => {
    if (!('met' in seen)) {
      since = undefined;
      return seen;
    }
    const nowMs = performance.now();
    if (since?.what !== seen.met) since = { what: seen.met, atMs: nowMs };
    return nowMs - since.atMs >= windowMs
      ? { met: undefined }
      : { state: 'the node is Ready; nothing may change for some time' };
  };
}

/** Which start of the kubelet it is, once its Node is Ready. */
async function kubeletSeen(
  client: KubeClient,
  name: string,
  version: string,
  limits: Limits,
): Promise<Seen<string>> {
  const kubelet = await unitProperties(
    KUBELET,
    ['ActiveState', 'InvocationID', 'ExecMainStartTimestampMonotonic'],
    limits.signal,
  );
  if (kubelet.ActiveState !== 'active') return { state: `${KUBELET} is ${kubelet.ActiveState}` };
  const started = sinceMonotonicMs(kubelet.ExecMainStartTimestampMonotonic ?? '0');
  const node = await client.find(resources.nodes, { name }, limits);
  const state = whyNodeNotReady(node, new Date(Date.now() - started));
  if (state !== undefined) return { state };
  const found = node?.status?.nodeInfo?.kubeletVersion;
  if (found !== version) return { state: `the Node has the kubelet ${found}` };
  return { met: kubelet.InvocationID ?? '' };
}
