import { done } from '../../lib/engine/steps/step.ts';
import type { StepBody } from '../../lib/engine/steps/within.ts';
import { addOnsOf, alwaysRunning } from '../../lib/payload/add-ons.ts';
import { addOnsReady, areAddOnsReady } from '../../lib/payload/add-ons-ready.ts';
import { readPayload } from '../../lib/payload/payload.ts';
import type { HostContext } from './host-context.ts';
import { REQUEST_DEADLINE_MS } from './request-deadline.ts';

/** Waits until the payload's add-ons run: Services, the cluster's DNS and volumes work. */
export const applyAddOns: StepBody<HostContext> = {
  name: 'add-ons',
  leaves: 'a Ready pod of each add-on of the payload',
  touches: ['api'],
  retries: true,
  // A restart of the host before it stops them. After it, they are workloads like any other, and the
  // bootstrap's credentials are deleted.
  neededUntil: 'steady-state',
  input: ({ cluster }) => cluster.clusterId,
  async holds(context, progress) {
    const names = await namesOf(context);
    if (names.length === 0) return true;
    const { signal } = progress;
    const bootTime = await context.bootTime(signal);
    return context.withAdministrator(progress, (client) =>
      areAddOnsReady(client, names, { signal, deadlineMs: REQUEST_DEADLINE_MS, bootTime }),
    );
  },
  async run(context, progress) {
    const names = await namesOf(context);
    if (names.length === 0) return done('none in the payload');
    const started = await context.bootTime(progress.signal);
    const what = `${names.join(', ')} to be ready`;
    await context.withAdministrator(progress, (client) =>
      progress.wait(what, (wait) =>
        addOnsReady(client, names, {
          ...wait,
          bootTime: started,
        }),
      ),
    );
    return done(names.join(', '));
  },
};

async function namesOf({ paths }: HostContext): Promise<string[]> {
  const { images } = await readPayload(paths.payload);
  return alwaysRunning(addOnsOf(images.map(({ name }) => name)));
}
