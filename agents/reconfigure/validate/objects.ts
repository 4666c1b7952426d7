import { z } from 'zod';
import { readGoYaml } from '../../../lib/base/go-yaml/read.ts';
import type { Limits } from '../../../lib/base/wait/limits.ts';
import type { ContainerRuntime } from '../../../lib/clients/cri/runtime.ts';
import type { KubeClient } from '../../../lib/clients/kube/client.ts';
import {
  internalIps,
  objectSchema,
  type Resource,
  resources,
} from '../../../lib/clients/kube/resources.ts';
import type { NodeFacts, PodFacts } from '../../../lib/relocation/relocatable/validation/facts.ts';

const containers = z
  .array(z.looseObject({ image: z.string(), imagePullPolicy: z.string().optional() }))
  .default([]);

const podSchema = objectSchema.extend({
  spec: z.looseObject({
    hostNetwork: z.boolean().default(false),
    containers,
    initContainers: containers,
  }),
  status: z.looseObject({ podIP: z.string().optional(), phase: z.string().optional() }).default({}),
});
const pods: Resource<z.infer<typeof podSchema>> = { ...resources.pods, schema: podSchema };

const sliceSchema = objectSchema.extend({
  endpoints: z.array(z.looseObject({ addresses: z.array(z.string()) })).nullish(),
});
const slices: Resource<z.infer<typeof sliceSchema>> = {
  apiVersion: 'discovery.k8s.io/v1',
  plural: 'endpointslices',
  schema: sliceSchema,
};

const proxySchema = z.looseObject({ nodePortAddresses: z.array(z.string()).default([]) });

/** What the API says of the node and its pods. */
export async function objectFacts(
  client: KubeClient,
  runtime: ContainerRuntime,
  nodeName: string,
  limits: Limits,
): Promise<
  Pick<NodeFacts, 'nodes' | 'nodeAddresses' | 'apiEndpoints' | 'nodePortAddresses' | 'pods'>
> {
  const { items: nodes } = await client.list(resources.nodes, {}, limits);
  const own = nodes.find(({ metadata }) => metadata.name === nodeName);
  const ofApi = { namespace: 'default', labelSelector: 'kubernetes.io/service-name=kubernetes' };
  const { items: endpoints } = await client.list(slices, ofApi, limits);
  const proxy = await client.find(
    resources.configMaps,
    { namespace: 'kube-system', name: 'kube-proxy' },
    limits,
  );
  const { items: found } = await client.list(pods, {}, limits);
  return {
    nodes: nodes.map(({ metadata }) => metadata.name),
    nodeAddresses: own && internalIps(own),
    apiEndpoints: endpoints.flatMap((slice) =>
      (slice.endpoints ?? []).flatMap(({ addresses }) => addresses),
    ),
    nodePortAddresses:
      proxy === undefined
        ? undefined
        : proxySchema.parse(readGoYaml(proxy.data?.['config.yaml'] ?? '{}')).nodePortAddresses,
    pods: await Promise.all(
      // What has ended does not start again; its Job makes another pod.
      found
        .filter(({ status }) => status.phase !== 'Succeeded' && status.phase !== 'Failed')
        .map((pod) => podFacts(pod, runtime, limits)),
    ),
  };
}

async function podFacts(
  { metadata, spec, status }: z.infer<typeof podSchema>,
  runtime: ContainerRuntime,
  limits: Limits,
): Promise<PodFacts> {
  const all = [...spec.initContainers, ...spec.containers];
  return {
    name: `${metadata.namespace}/${metadata.name}`,
    isOnHostNetwork: spec.hostNetwork,
    podIp: status.podIP,
    containers: await Promise.all(
      all.map(async ({ image, imagePullPolicy }) => ({
        image,
        isAlwaysPulled: imagePullPolicy === 'Always',
        isLocal: (await runtime.imageStatus(image, limits)) !== undefined,
      })),
    ),
  };
}
