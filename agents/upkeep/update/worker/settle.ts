import { Failure } from '../../../../lib/base/errors/failure.ts';
import type { Limits } from '../../../../lib/base/wait/limits.ts';
import { orError, type Seen, waitUntil } from '../../../../lib/base/wait/wait-until.ts';
import { connectHostRuntime } from '../../../../lib/clients/cri/runtime.ts';
import { whyNodeNotReady } from '../../../../lib/clients/kube/node-ready.ts';
import { resources } from '../../../../lib/clients/kube/resources.ts';
import { done } from '../../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../../lib/engine/steps/within.ts';
import { sinceMonotonicMs, unitProperties } from '../../../../lib/host/systemd.ts';
import { readPayload } from '../../../../lib/payload/payload.ts';
import { Causes, kubeletNeeds } from '../../../steps/causes.ts';
import type { PlainHost } from '../../../steps/host-context.ts';
import { asNode } from '../../../steps/own-node.ts';
import { REQUEST_DEADLINE_MS } from '../../../steps/request-deadline.ts';
import type { UpdatedHost } from '../context.ts';

const LOOK_EVERY_MS = 2000;
const KUBELET = 'kubelet.service';
/** What every node runs of the cluster's own, such as kube-proxy. A workload that keeps ending says nothing of the update. */
const ADD_ONS = 'kube-system';

/**
 * Waits until the Node is Ready with the kubelet of the payload, and until neither that kubelet nor a container of the
 * add-ons has been replaced for the window.
 */
export const settleWorker: StepBody<UpdatedHost> = {
  name: 'settle',
  leaves: 'a Node that is Ready with the kubelet of the payload, and steady',
  touches: ['api', 'runtime', 'systemd', 'clock'],
  // It must be seen in this boot, for the whole window.
  neededUntil: 'confirm',
  input: ({ request }) => request.id,
  holds: async () => true,
  async run(context, progress) {
    const { paths, settings } = context;
    const { kubernetes } = (await readPayload(paths.payload)).versions;
    const causes = new Causes(paths, kubeletNeeds, progress);
    const steady = steadyFor(settings.updateWindowMs);
    const look = orError((limits) => seenOf(context, kubernetes, limits));
    await progress.wait(`the node to be steady with the kubelet ${kubernetes}`, (wait) =>
      waitUntil(
        async (limits) => {
          await causes.look(limits.signal);
          return steady(await look(limits));
        },
        {
          ...wait,
          everyMs: LOOK_EVERY_MS,
          late: ({ state }) =>
            new Failure('deadline', 'the worker did not settle with the update', {
              expected: `no change for ${settings.updateWindowMs / 1000} s`,
              found: state,
            }),
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

/** What must stay the same of a Node that is as it should be. */
async function seenOf(host: PlainHost, version: string, { signal }: Limits): Promise<Seen<string>> {
  const limits = { signal, deadlineMs: REQUEST_DEADLINE_MS };
  const kubelet = await unitProperties(
    KUBELET,
    ['ActiveState', 'InvocationID', 'ExecMainStartTimestampMonotonic'],
    signal,
  );
  if (kubelet.ActiveState !== 'active') return { state: `${KUBELET} is ${kubelet.ActiveState}` };
  const started = sinceMonotonicMs(kubelet.ExecMainStartTimestampMonotonic ?? '0');
  using client = await asNode(host);
  const node = await client.find(resources.nodes, { name: host.hostname() }, limits);
  const state = whyNodeNotReady(node, new Date(Date.now() - started));
  if (state !== undefined) return { state };
  const found = node?.status?.nodeInfo?.kubeletVersion;
  if (found !== version) return { state: `the Node has the kubelet ${found}` };
  return { met: [kubelet.InvocationID, ...(await addOnContainers(host, limits))].join(' ') };
}

/** Those that run, by their ids. */
async function addOnContainers({ paths }: PlainHost, limits: Limits): Promise<string[]> {
  using runtime = connectHostRuntime(paths);
  const containers = await runtime.listContainers(limits);
  return containers
    .filter(
      ({ state, labels }) =>
        state === 'running' && labels['io.kubernetes.pod.namespace'] === ADD_ONS,
    )
    .map(({ id }) => id)
    .toSorted();
}
