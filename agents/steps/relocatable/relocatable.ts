import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import type { HostContext } from '../host-context.ts';
import { type FactoryContext, factoryPolicy, usualChoices } from './factory-policy.ts';
import { internalAddress } from './internal-address.ts';
import { nodeName } from './node-name.ts';

/** Node ports are rendered so from the start. */
const parts: readonly StepBody<FactoryContext>[] = [internalAddress, nodeName, factoryPolicy];

const factoryContext = (context: HostContext): FactoryContext => ({
  ...context,
  choices: usualChoices(context.cluster),
});

/** What `reconfigure prepare` does, as a part of an installation with `relocatable: true`. */
export const relocatable: StepBody<HostContext> = {
  name: 'relocatable',
  leaves: 'with relocatable: true, a node that can be set up at another site',
  touches: ['disk', 'network', 'systemd', 'api'],
  retries: true,
  input: ({ cluster }) => cluster.relocatable === true,
  async holds(context, progress) {
    if (context.cluster.relocatable !== true) return true;
    for (const part of parts) {
      if (!(await part.holds(factoryContext(context), progress))) return false;
    }
    return true;
  },
  async run(context, progress) {
    if (context.cluster.relocatable !== true) return done('not asked for');
    for (const part of parts) {
      const outcome = await part.run(factoryContext(context), progress);
      if (outcome.kind !== 'done') return outcome;
    }
    return done();
  },
};
