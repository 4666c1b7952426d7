import { Failure } from '../../lib/base/errors/failure.ts';
import { lookUntil, type WaitCondition, waitUntil } from '../../lib/base/wait/wait-until.ts';
import type { KubeClient } from '../../lib/clients/kube/client.ts';
import { resources } from '../../lib/clients/kube/resources.ts';
import { done } from '../../lib/engine/steps/step.ts';
import type { StepBody } from '../../lib/engine/steps/within.ts';
import { loadRendered } from '../../lib/render/store.ts';
import { podsBeforeApi } from '../steps/control-plane.ts';
import type { HostContext } from '../steps/host-context.ts';
import { restartPrepared } from '../steps/kubelet.ts';
import { REQUEST_DEADLINE_MS } from '../steps/request-deadline.ts';

/** Long enough for a kubelet with a registered Node: it creates them at once (pkg/kubelet, fastStaticPodsRegistration). */
const TRIED_MS = 2000;
const PAUSE_MS = 200;

/**
 * Makes the kubelet create the mirror pods of etcd and the API server. The kubelet registers its Node as soon as the API server
 * listens. The PriorityClass system-node-critical may not exist by then, and without it the API server refuses these pods. The
 * kubelet tries again when a container of the pod changes, or after 60 to 90 s. Nothing changes in etcd's pod, so the steady state
 * would wait for it. A kubelet that starts creates them at once, and its containers keep running.
 */
export const mirrorPods: StepBody<HostContext> = {
  name: 'mirror-pods',
  leaves: 'etcd and the API server as pods of the API, if the Node is registered',
  touches: ['api', 'systemd'],
  retries: true,
  input: ({ hostname }) => hostname(),
  // Each start of the kubelet creates those that are missing.
  holds: async () => true,
  async run(context, progress) {
    const { paths } = context;
    const nodeName = context.hostname();
    const names = podsBeforeApi(await loadRendered(paths)).map(
      ({ component }) => `${component}-${nodeName}`,
    );
    return context.withAdministrator(progress, async (client) => {
      if (!(await isRegistered(client, nodeName, progress.signal)))
        return done('the kubelet creates them when it registers its Node');
      const shown = allShown(client, nodeName, names);
      const limits = { signal: progress.signal, deadlineMs: TRIED_MS, everyMs: PAUSE_MS };
      if ('met' in (await lookUntil(shown, limits))) return done();
      await restartPrepared(paths, progress);
      const what = 'the kubelet to create its static pods in the API';
      await progress.wait(what, (wait) =>
        waitUntil(shown, {
          ...wait,
          everyMs: PAUSE_MS,
          late: ({ state }) =>
            new Failure('deadline', 'the kubelet does not show its static pods', { found: state }),
        }),
      );
      return done('after a restart of the kubelet, which had tried before the API accepted them');
    });
  },
};

async function isRegistered(
  client: KubeClient,
  name: string,
  signal: AbortSignal,
): Promise<boolean> {
  const { items } = await client.list(
    resources.nodes,
    { fieldSelector: `metadata.name=${name}` },
    { signal, deadlineMs: REQUEST_DEADLINE_MS },
  );
  return items.length > 0;
}

/** Each of these names is a pod of the node. */
const allShown =
  (client: KubeClient, nodeName: string, names: readonly string[]): WaitCondition<undefined> =>
  async ({ signal }) => {
    const { items } = await client.list(
      resources.pods,
      { namespace: 'kube-system', fieldSelector: `spec.nodeName=${nodeName}` },
      { signal, deadlineMs: REQUEST_DEADLINE_MS },
    );
    const found = new Set(items.map(({ metadata }) => metadata.name));
    const missing = names.filter((name) => !found.has(name));
    return missing.length === 0 ? { met: undefined } : { state: missing.join(', ') };
  };
