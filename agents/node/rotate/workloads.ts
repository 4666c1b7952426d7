import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { KubeClient } from '../../../lib/kube/client.ts';
import { objectSchema, type Resource, resources } from '../../../lib/kube/resources.ts';
import { mayCertifyAuthorities } from '../../../lib/pki/authority.ts';
import { authorityPaths } from '../../../lib/render/kubernetes/authorities.ts';
import { trust } from '../../../lib/render/kubernetes/kube-controller-manager.ts';
import type { Progress } from '../../../lib/steps/progress.ts';
import { done } from '../../../lib/steps/step.ts';
import type { StepBody } from '../../../lib/steps/within.ts';
import type { Limits } from '../../../lib/wait/limits.ts';
import { REQUEST_DEADLINE_MS } from '../../steps/request-deadline.ts';
import { type RotateContext, withAdministrator } from './context.ts';

/** The ConfigMap of every namespace with the authority of the API server. */
const ROOT_CA = 'kube-root-ca.crt';
const POLL_MS = 1000;

const volumeSchema = z.looseObject({
  projected: z
    .looseObject({
      sources: z.array(
        z.looseObject({ configMap: z.looseObject({ name: z.string() }).optional() }),
      ),
    })
    .optional(),
});
const podSchema = objectSchema.extend({
  metadata: objectSchema.shape.metadata.extend({
    namespace: z.string(),
    ownerReferences: z.array(z.looseObject({ controller: z.boolean().optional() })).optional(),
  }),
  spec: z.looseObject({ volumes: z.array(volumeSchema).optional() }),
});
type WorkloadPod = z.infer<typeof podSchema>;
const pods: Resource<WorkloadPod> = { apiVersion: 'v1', plural: 'pods', schema: podSchema };

/** Pods that verify the API server with the authority that they were started with. */
export async function podsTrustingApi(client: KubeClient, limits: Limits): Promise<WorkloadPod[]> {
  const { items } = await client.list(pods, {}, limits);
  return items.filter(({ spec }) =>
    spec.volumes?.some(({ projected }) =>
      projected?.sources.some(({ configMap }) => configMap?.name === ROOT_CA),
    ),
  );
}

export const podName = ({ metadata }: WorkloadPod): string =>
  `${metadata.namespace}/${metadata.name}`;

/**
 * Whether clients that trust only the present authority of the API server are lost with the next one:
 * it may not sign its successor.
 */
export const losesClients = (servingCertificate: string): boolean =>
  !mayCertifyAuthorities(servingCertificate);

/**
 * Deletes the pods that trust only an authority which cannot sign its successor, so that they are
 * created again with both. Only if the person who requested the rotation has accepted that.
 */
export const restartWorkloads: StepBody<RotateContext> = {
  name: 'restart-workloads',
  leaves: 'no pod that trusts only an old CA of the API server, if that cannot sign the new one',
  neededUntil: 'use-new',
  input: ({ request }) => request.id,
  holds: async () => true,
  async run(context, progress) {
    const { paths, request } = context;
    const { what } = request;
    if (what.kind !== 'authorities' || !what.names.includes('serving')) return done('not needed');
    if (!losesClients(await readFile(paths.at(authorityPaths('serving').certificate), 'utf8'))) {
      return done('not needed');
    }
    const limits = { signal: progress.signal, deadlineMs: REQUEST_DEADLINE_MS };
    return withAdministrator(context, progress, async (client) => {
      const found = await podsTrustingApi(client, limits);
      const namespaces = [...new Set(found.map(({ metadata }) => metadata.namespace))];
      await published(context, client, namespaces, progress);
      const deleted = [];
      for (const pod of found) {
        if (await recreated(client, pod, limits, progress)) deleted.push(podName(pod));
      }
      return done(`deleted ${deleted.join(', ') || 'no pod'}`);
    });
  },
};

async function recreated(
  client: KubeClient,
  pod: WorkloadPod,
  limits: Limits,
  progress: Progress,
): Promise<boolean> {
  const { name, namespace, ownerReferences = [] } = pod.metadata;
  if (!ownerReferences.some(({ controller }) => controller === true)) {
    progress.warn(`${podName(pod)} has no controller: restart it yourself`);
    return false;
  }
  return client.remove(resources.pods, { namespace, name }, limits);
}

/** Waits until the controller-manager has published both authorities. */
async function published(
  { paths }: RotateContext,
  client: KubeClient,
  namespaces: readonly string[],
  progress: Progress,
): Promise<void> {
  const expected = await readFile(paths.at(trust.api), 'utf8');
  const limits = { signal: progress.signal, deadlineMs: REQUEST_DEADLINE_MS };
  for (const namespace of namespaces) {
    const place = { namespace, name: ROOT_CA };
    while (
      (await client.find(resources.configMaps, place, limits))?.data?.['ca.crt'] !== expected
    ) {
      await progress.wait(`${ROOT_CA} of ${namespace} to have both authorities`, () =>
        sleep(POLL_MS, undefined, { signal: progress.signal }),
      );
    }
  }
}
