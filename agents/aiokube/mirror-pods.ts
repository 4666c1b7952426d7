import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeClient } from '../../lib/clients/kube/client.ts';
import { resources } from '../../lib/clients/kube/resources.ts';
import type { Progress } from '../../lib/engine/steps/progress.ts';
import { done } from '../../lib/engine/steps/step.ts';
import type { StepBody } from '../../lib/engine/steps/within.ts';
import { loadRendered } from '../../lib/render/store.ts';
import { podsBeforeApi } from '../steps/control-plane.ts';
import type { HostContext } from '../steps/host-context.ts';
import { restartPrepared } from '../steps/kubelet.ts';
import { REQUEST_DEADLINE_MS } from '../steps/request-deadline.ts';

/** A kubelet that has registered its Node creates them at once (pkg/kubelet, fastStaticPodsRegistration). */
const LOOKS_BEFORE_RESTART = 10;
const PAUSE_MS = 200;

/**
 * Has the kubelet show etcd and the API server in the API. It registers its Node as soon as the API server listens, which
 * is before that has created the PriorityClass system-node-critical, without which it refuses these pods. The kubelet
 * tries again when something happens to a container of the pod, or after 60 to 90 s; nothing more happens to etcd, and the
 * steady state would wait for it. A kubelet that starts creates them at once, and its containers keep running.
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
      const missing = () => missingPods(client, nodeName, names, progress.signal);
      for (let looks = 0; looks < LOOKS_BEFORE_RESTART; looks++) {
        if ((await missing()).length === 0) return done();
        await sleep(PAUSE_MS, undefined, { signal: progress.signal });
      }
      await restartPrepared(paths, progress);
      await progress.wait('the kubelet to create its static pods in the API', () =>
        untilNone(missing, progress),
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

/** Of these names, those that are no pods of the node. */
async function missingPods(
  client: KubeClient,
  nodeName: string,
  names: readonly string[],
  signal: AbortSignal,
): Promise<string[]> {
  const { items } = await client.list(
    resources.pods,
    { namespace: 'kube-system', fieldSelector: `spec.nodeName=${nodeName}` },
    { signal, deadlineMs: REQUEST_DEADLINE_MS },
  );
  return names.filter((name) => items.every(({ metadata }) => metadata.name !== name));
}

async function untilNone(
  missing: () => Promise<readonly string[]>,
  progress: Progress,
): Promise<void> {
  for (;;) {
    const names = await missing();
    if (names.length === 0) return;
    progress.waitingFor(`the kubelet to create its static pods in the API: ${names.join(', ')}`);
    await sleep(PAUSE_MS, undefined, { signal: progress.signal });
  }
}
