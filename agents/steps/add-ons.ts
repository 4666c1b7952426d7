import { addOnsReady } from '../../lib/kube/add-ons-ready.ts';
import { addOnsOf } from '../../lib/payload/add-ons.ts';
import { readPayload } from '../../lib/payload/payload.ts';
import { done } from '../../lib/steps/step.ts';
import type { StepBody } from '../../lib/steps/within.ts';
import type { HostContext } from './host-context.ts';

/** Waits until the payload's add-ons run: Services, the cluster's DNS and volumes work. */
export const addOns: StepBody<HostContext> = {
  name: 'add-ons',
  leaves: 'a Ready pod of each add-on of the payload',
  retries: true,
  neededUntil: 'clean',
  input: ({ cluster }) => cluster.clusterId,
  // From now on, they are workloads of the cluster like any other.
  holds: async () => true,
  async run({ paths, bootTime, withAdministrator }, progress) {
    const { images } = await readPayload(paths.payload);
    const names = addOnsOf(images.map(({ name }) => name));
    if (names.length === 0) return done('none in the payload');
    const started = await bootTime(progress.signal);
    const what = `${names.join(', ')} to be ready`;
    await withAdministrator(progress, (client) =>
      progress.wait(what, () =>
        addOnsReady(client, names, {
          signal: progress.signal,
          deadlineMs: progress.remainingMs(),
          bootTime: started,
          report: (observed) => progress.waitingFor(`${what}: ${observed}`),
        }),
      ),
    );
    return done(names.join(', '));
  },
};
