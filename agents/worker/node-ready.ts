import type { StepBody } from '../../lib/engine/steps/within.ts';
import type { PlainHost } from '../steps/host-context.ts';
import { nodeReadyBy } from '../steps/node-ready.ts';
import { asNode } from '../steps/own-node.ts';

/** By the identity of the kubelet. */
export const awaitOwnNodeReady: StepBody<PlainHost> = nodeReadyBy(
  async (context, _progress, use) => {
    using client = await asNode(context);
    await use(client);
  },
);
