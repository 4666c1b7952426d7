import { done } from '../../lib/engine/steps/step.ts';
import type { StepBody } from '../../lib/engine/steps/within.ts';
import { sha256 } from '../../lib/host/files.ts';
import { loadRendered, podOfRole } from '../../lib/render/store.ts';
import { staticPodsNeed, withCauses } from './causes.ts';
import type { HostContext } from './host-context.ts';
import { REQUEST_DEADLINE_MS } from './request-deadline.ts';
import { placeStaticPod } from './static-pods.ts';

/** Starts etcd as a static pod and waits until it answers with a leader. */
export const etcdServes: StepBody<HostContext> = {
  name: 'etcd',
  leaves: 'an etcd static pod with a leader',
  touches: ['disk', 'etcd'],
  retries: true,
  async input({ paths }) {
    return sha256(podOfRole(await loadRendered(paths), 'database').manifest);
  },
  async holds(context, { signal }) {
    try {
      return (await etcdStatus(context, signal)).leader !== '0';
    } catch {
      return false;
    }
  },
  async run(context, progress) {
    const { paths } = context;
    await placeStaticPod(paths, podOfRole(await loadRendered(paths), 'database'));
    return progress.wait('etcd to elect itself', async () => {
      const status = await withCauses(context, staticPodsNeed('etcd'), progress, ({ signal }) =>
        context.withEtcd((client) =>
          client.status({ signal, deadlineMs: progress.remainingMs(), waitForReady: true }),
        ),
      );
      return done(`version ${status.version}, revision ${status.revision}`);
    });
  },
};

const etcdStatus = (context: HostContext, signal: AbortSignal) =>
  context.withEtcd((client) => client.status({ signal, deadlineMs: REQUEST_DEADLINE_MS }));
