import { z } from 'zod';
import type { Limits, Wait } from '../../../lib/base/wait/limits.ts';
import type { KubeClient } from '../../../lib/clients/kube/client.ts';
import type { Manifest } from '../../../lib/clients/kube/manifest-decoding.ts';
import { objectSchema, type Resource, resources } from '../../../lib/clients/kube/resources.ts';
import { watchUntil } from '../../../lib/clients/kube/watch-objects.ts';

/** Of the pods that a DaemonSet creates, and of the DaemonSet: the number of its template (k8s.io/api/apps/v1). */
const POD_GENERATION = 'pod-template-generation';
const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';

const conditionSchema = z.looseObject({ type: z.string(), status: z.string() });
const podSchema = objectSchema.extend({
  metadata: objectSchema.shape.metadata.extend({
    ownerReferences: z.array(z.looseObject({ kind: z.string(), name: z.string() })).optional(),
  }),
  spec: z.looseObject({
    containers: z.array(z.looseObject({ name: z.string(), image: z.string() })),
  }),
  status: z
    .looseObject({
      conditions: z.array(conditionSchema).optional(),
      containerStatuses: z.array(z.looseObject({ restartCount: z.number() })).optional(),
    })
    .optional(),
});
/** A pod on this node. */
export type PodOfNode = z.infer<typeof podSchema>;
const pods: Resource<PodOfNode> = { apiVersion: 'v1', plural: 'pods', schema: podSchema };

/**
 * In a cluster with workers, an update replaces the pods of DaemonSets on its own node only: workers do not have the new images
 * until they are updated themselves, and then replace their own.
 */
export async function inTurn(
  client: KubeClient,
  objects: readonly Manifest[],
  node: string,
  limits: Limits,
): Promise<readonly Manifest[]> {
  if (!objects.some(isDaemonSet)) return objects;
  const { items } = await client.list(resources.nodes, {}, limits);
  if (items.every(({ metadata }) => metadata.name === node)) return objects;
  return objects.map((manifest) =>
    isDaemonSet(manifest) ? { ...manifest, object: replacedOnDelete(manifest.object) } : manifest,
  );
}

const isDaemonSet = ({ kind }: Pick<Manifest, 'kind'>): boolean => kind === 'DaemonSet';

const specSchema = z.looseObject({});
const replacedOnDelete = (object: Manifest['object']): Manifest['object'] => ({
  ...object,
  spec: { ...specSchema.parse(object.spec), updateStrategy: { type: 'OnDelete' } },
});

const setSchema = objectSchema.extend({
  status: z.looseObject({ observedGeneration: z.number().optional() }).optional(),
});
type DaemonSet = z.infer<typeof setSchema>;
const daemonSets: Resource<DaemonSet> = { ...resources.daemonSets, schema: setSchema };

/**
 * Deletes the pods on a node that are not of the present template of these DaemonSets, as soon as their controller knows that
 * template: it creates them anew.
 *
 * @throws Failure (deadline) if the controller does not see it
 */
export async function replacePodsOfNode(
  client: KubeClient,
  objects: readonly Manifest[],
  node: string,
  wait: Wait,
): Promise<void> {
  for (const { namespace = 'default', name } of objects.filter(isDaemonSet)) {
    const { metadata } = await seenByController(client, { namespace, name }, wait);
    const generation = metadata.annotations?.[TEMPLATE_GENERATION];
    for (const pod of await podsOfNode(client, namespace, node, wait)) {
      const isPresent = pod.metadata.labels?.[POD_GENERATION] === generation;
      if (ownerOf(pod) === name && !isPresent) await deletePodOfNode(client, pod, wait);
    }
  }
}

const seenByController = (
  client: KubeClient,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  wait: Wait,
): Promise<DaemonSet> => {
  const what = `the controller to see the new template of DaemonSet ${namespace}/${name}`;
  return watchUntil(
    client,
    daemonSets,
    { namespace, fieldSelector: `metadata.name=${name}` },
    (sets) => {
      const set = sets.get(`${namespace}/${name}`);
      const isSeen = (set?.status?.observedGeneration ?? 0) >= (set?.metadata.generation ?? 0);
      return isSeen ? set : undefined;
    },
    { ...wait, what, describe: (sets) => (sets.size === 0 ? 'it does not exist' : 'not yet') },
  );
};

/** The DaemonSet of a pod; undefined for any other pod. */
export const ownerOf = ({ metadata }: PodOfNode): string | undefined =>
  metadata.ownerReferences?.find(({ kind }) => kind === 'DaemonSet')?.name;

/** A kubelet may list those of its own node. */
export async function podsOfNode(
  client: KubeClient,
  namespace: string,
  node: string,
  limits: Limits,
): Promise<PodOfNode[]> {
  const selection = { namespace, fieldSelector: `spec.nodeName=${node}` };
  return [...(await client.list(pods, selection, limits)).items];
}

/** With the rights of the node that the pod is on. */
export const deletePodOfNode = (
  client: KubeClient,
  { metadata: { namespace = 'default', name } }: PodOfNode,
  limits: Limits,
): Promise<unknown> => client.remove(pods, { namespace, name }, limits);
