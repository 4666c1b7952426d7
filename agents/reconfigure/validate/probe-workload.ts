import { z } from 'zod';
import { Failure } from '../../../lib/base/errors/failure.ts';
import type { Limits, Wait } from '../../../lib/base/wait/limits.ts';
import { applyChanged } from '../../../lib/clients/kube/apply-changed.ts';
import type { KubeClient } from '../../../lib/clients/kube/client.ts';
import { isKubeError } from '../../../lib/clients/kube/kube-error.ts';
import { decodeManifests } from '../../../lib/clients/kube/manifest-decoding.ts';
import { objectSchema, type Resource, resources } from '../../../lib/clients/kube/resources.ts';
import { watchUntil } from '../../../lib/clients/kube/watch-objects.ts';
import { whyPodWaits } from '../../../lib/payload/add-ons-ready.ts';
import {
  PROBE_NAME,
  PROBE_NAMESPACE,
  PROBE_SELECTOR,
  type ProbeOptions,
  probeObjects,
} from './probe-objects.ts';

const podSchema = objectSchema.extend({
  status: z
    .looseObject({
      podIP: z.string().optional(),
      conditions: z.array(z.looseObject({ type: z.string(), status: z.string() })).optional(),
    })
    .optional(),
});
const pods: Resource<z.infer<typeof podSchema>> = { ...resources.pods, schema: podSchema };

const volumeSchema = objectSchema.extend({
  spec: z.looseObject({ claimRef: z.looseObject({ namespace: z.string() }).optional() }),
});
const volumes: Resource<z.infer<typeof volumeSchema>> = {
  apiVersion: 'v1',
  plural: 'persistentvolumes',
  schema: volumeSchema,
};
const namespaces: Resource = { apiVersion: 'v1', plural: 'namespaces', schema: objectSchema };

/** A pod of the probe that answers. */
export interface ProbePod {
  readonly name: string;
  readonly ip: string;
}

export async function createProbe(
  client: KubeClient,
  options: ProbeOptions,
  wait: Wait,
): Promise<ProbePod> {
  const text = probeObjects(options)
    .map((object) => JSON.stringify(object))
    .join('\n---\n');
  const { manifests } = decodeManifests('probe.yaml', text);
  await applyChanged(client, manifests, wait);
  return readyPod(client, undefined, wait);
}

/** Its present pod, once that is ready. @param before another one, that is to be gone */
export async function readyPod(
  client: KubeClient,
  before: ProbePod | undefined,
  wait: Wait,
): Promise<ProbePod> {
  const selection = { namespace: PROBE_NAMESPACE, labelSelector: PROBE_SELECTOR };
  return watchUntil(
    client,
    pods,
    selection,
    (found) => {
      const all = [...found.values()];
      if (all.some(({ metadata }) => metadata.name === before?.name)) return undefined;
      const ready = all.find(({ status }) =>
        status?.conditions?.some((each) => each.type === 'Ready' && each.status === 'True'),
      );
      const ip = ready?.status?.podIP;
      return ready === undefined || ip === undefined
        ? undefined
        : { name: ready.metadata.name, ip };
    },
    {
      ...wait,
      what: 'a pod of a new Deployment to be ready',
      describe: (found) => {
        const [pod] = found.values();
        return pod === undefined ? 'no pod' : (whyPodWaits(pod) ?? 'a pod that has not started');
      },
    },
  );
}

/** Has the cluster delete all of it. False if there is nothing. */
export async function deleteProbe(client: KubeClient, limits: Limits): Promise<boolean> {
  try {
    return await client.remove(namespaces, { name: PROBE_NAMESPACE }, limits);
  } catch (error) {
    // A namespace that is being deleted already.
    if (isKubeError(error, 'conflict')) return true;
    throw error;
  }
}

/** The same, and waits until it is gone. */
export async function removeProbe(client: KubeClient, wait: Wait): Promise<void> {
  if (!(await deleteProbe(client, wait))) return;
  const selection = { fieldSelector: `metadata.name=${PROBE_NAMESPACE}` };
  await watchUntil(client, namespaces, selection, (found) => found.size === 0 || undefined, {
    ...wait,
    what: `the namespace ${PROBE_NAMESPACE} to be gone`,
    describe: (found) => JSON.stringify([...found.values()][0]?.status ?? {}).slice(0, 300),
  });
  const own = (found: ReadonlyMap<string, z.infer<typeof volumeSchema>>) =>
    [...found.values()].filter(({ spec }) => spec.claimRef?.namespace === PROBE_NAMESPACE);
  await watchUntil(client, volumes, {}, (found) => own(found).length === 0 || undefined, {
    ...wait,
    what: 'its volume to be gone',
    describe: (found) =>
      own(found)
        .map(({ metadata }) => metadata.name)
        .join(', '),
  });
}

/** Whether a claim without a class gets a volume. */
export async function hasDefaultClass(client: KubeClient, wait: Wait): Promise<boolean> {
  const classes: Resource = {
    apiVersion: 'storage.k8s.io/v1',
    plural: 'storageclasses',
    schema: objectSchema,
  };
  const { items } = await client.list(classes, {}, wait);
  const isDefault = 'storageclass.kubernetes.io/is-default-class';
  return items.some(({ metadata }) => metadata.annotations?.[isDefault] === 'true');
}

const serviceSchema = objectSchema.extend({
  spec: z.looseObject({
    clusterIPs: z.array(z.string()).min(1),
    ports: z.array(z.looseObject({ nodePort: z.number() })).min(1),
  }),
});

/** Its addresses, the one of the primary family first. */
export async function probeService(
  client: KubeClient,
  wait: Wait,
): Promise<{ readonly ips: readonly string[]; readonly nodePort: number }> {
  const services: Resource<z.infer<typeof serviceSchema>> = {
    apiVersion: 'v1',
    plural: 'services',
    schema: serviceSchema,
  };
  const place = { namespace: PROBE_NAMESPACE, name: PROBE_NAME };
  const { spec } = await client.get(services, place, wait);
  return { ips: spec.clusterIPs, nodePort: spec.ports[0]?.nodePort ?? 0 };
}

/** The last lines of the pod's log, by the API server and the kubelet. */
export async function probeLog(client: KubeClient, pod: ProbePod, wait: Wait): Promise<string> {
  const path = `/api/v1/namespaces/${PROBE_NAMESPACE}/pods/${pod.name}/log?limitBytes=65536`;
  const { code, body } = await client.raw(path, wait);
  if (code === 200) return body;
  throw new Failure('retry', 'the API returns no log', { found: `${code}: ${body.slice(0, 200)}` });
}
