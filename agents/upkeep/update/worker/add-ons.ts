import type { Limits } from '../../../../lib/base/wait/limits.ts';
import type { Seen } from '../../../../lib/base/wait/wait-until.ts';
import type { KubeClient } from '../../../../lib/clients/kube/client.ts';
import type { Payload } from '../../../../lib/payload/payload.ts';
import { deletePodOfNode, ownerOf, type PodOfNode, podsOfNode } from '../nodes-in-turn.ts';

/** Where the pods of add-ons are, such as kube-proxy. A workload that keeps ending says nothing of the update. */
const ADD_ONS = 'kube-system';

/** Which pods of add-ons run on a node, once all are ready. */
export async function addOnsSeen(
  client: KubeClient,
  node: string,
  { images }: Payload,
  limits: Limits,
): Promise<Seen<string>> {
  const pods = await addOnsOf(client, node, images, limits);
  const unready = pods.find((pod) => !isReady(pod));
  return unready === undefined
    ? { met: pods.map(instanceOf).toSorted().join(' ') }
    : { state: `${unready.metadata.name} is not ready` };
}

/** The pods of DaemonSets on the node with a container that the payload has an image for, whichever version it runs. */
async function addOnsOf(
  client: KubeClient,
  node: string,
  images: Payload['images'],
  limits: Limits,
): Promise<PodOfNode[]> {
  const names = images.map(({ name }) => name);
  const all = await podsOfNode(client, ADD_ONS, node, limits);
  return all.filter(
    (pod) =>
      ownerOf(pod) !== undefined && pod.spec.containers.some(({ name }) => names.includes(name)),
  );
}

/**
 * Deletes the add-ons' pods that still have an image of the payload before. Since the update of the control-plane host, their DaemonSets
 * wait for that (agents/upkeep/update/nodes-in-turn.ts).
 */
export async function replaceAddOns(
  client: KubeClient,
  node: string,
  { images }: Payload,
  limits: Limits,
): Promise<void> {
  for (const pod of await addOnsOf(client, node, images, limits)) {
    const isOld = pod.spec.containers.some(({ name, image }) =>
      images.some((own) => own.name === name && own.reference !== image),
    );
    if (isOld) await deletePodOfNode(client, pod, limits);
  }
}

const isReady = ({ metadata, status }: PodOfNode): boolean =>
  metadata.deletionTimestamp === undefined &&
  status?.conditions?.some((each) => each.type === 'Ready' && each.status === 'True') === true;

const instanceOf = ({ metadata, status }: PodOfNode): string =>
  [metadata.uid, ...(status?.containerStatuses ?? []).map((each) => each.restartCount)].join(':');
