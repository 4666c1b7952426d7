import type { Wait } from '../../base/wait/limits.ts';
import type { KubeClient } from './client.ts';
import { type Node, resources } from './resources.ts';
import { watchUntil } from './watch-objects.ts';

interface NodeWait extends Wait {
  /** Only a newer heartbeat counts: after a restart the API still has the one from before. */
  readonly bootTime: Date;
}

/** Waits until the kubelet of this boot reports the node Ready. */
export async function nodeReady(client: KubeClient, name: string, wait: NodeWait): Promise<Node> {
  const { bootTime, ...limits } = wait;
  return watchUntil(
    client,
    resources.nodes,
    { fieldSelector: `metadata.name=${name}` },
    (nodes) => {
      const node = nodes.get(name);
      return whyNodeNotReady(node, bootTime) === undefined ? node : undefined;
    },
    {
      ...limits,
      what: `node ${name} to be Ready`,
      describe: (nodes) => whyNodeNotReady(nodes.get(name), bootTime) ?? 'Ready',
    },
  );
}

/** What keeps a node from being Ready in this boot, or undefined when it is. */
export function whyNodeNotReady(node: Node | undefined, bootTime: Date): string | undefined {
  if (node === undefined) return 'the node is not registered';
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready === undefined) return `node ${node.metadata.name} has no Ready condition`;
  if (ready.status !== 'True') {
    return `node ${node.metadata.name} is not Ready: ${ready.message ?? ready.reason ?? ready.status}`;
  }
  return isAfter(ready.lastHeartbeatTime, bootTime)
    ? undefined
    : `the last heartbeat of node ${node.metadata.name} is from before this boot`;
}

/** API times are in whole seconds: an event in the second of `moment` may appear to be earlier. */
export function isAfter(time: string | null | undefined, moment: Date): boolean {
  return typeof time === 'string' && Date.parse(time) >= Math.floor(moment.getTime() / 1000) * 1000;
}
