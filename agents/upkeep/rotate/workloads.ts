import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { Limits } from '../../../lib/base/wait/limits.ts';
import type { KubeClient } from '../../../lib/clients/kube/client.ts';
import { objectSchema, type Resource, resources } from '../../../lib/clients/kube/resources.ts';
import { watchUntil } from '../../../lib/clients/kube/watch-objects.ts';
import { ROOT_CA } from '../../../lib/clients/rights/workers.ts';
import type { Progress } from '../../../lib/engine/steps/progress.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { mayCertifyAuthorities } from '../../../lib/pki/authority.ts';
import { authorityPaths } from '../../../lib/render/kubernetes/authorities.ts';
import { controllerManagerTrust } from '../../../lib/render/kubernetes/kube-controller-manager.ts';
import { REQUEST_DEADLINE_MS } from '../../steps/request-deadline.ts';
import type { RotateContext } from './context.ts';

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
  status: z.looseObject({ phase: z.string().optional() }).optional(),
});
type WorkloadPod = z.infer<typeof podSchema>;
const pods: Resource<WorkloadPod> = { apiVersion: 'v1', plural: 'pods', schema: podSchema };

/**
 * Pods that verify the API server with the authority that they were started with. A pod that has
 * finished does nothing with it any more, and one that is being deleted is not in the way.
 */
export async function podsTrustingApi(client: KubeClient, limits: Limits): Promise<WorkloadPod[]> {
  const { items } = await client.list(pods, {}, limits);
  return items.filter((pod) => isInUse(pod) && mountsRootCa(pod));
}

const isInUse = ({ metadata, status }: WorkloadPod): boolean =>
  metadata.deletionTimestamp === undefined &&
  status?.phase !== 'Succeeded' &&
  status?.phase !== 'Failed';

const mountsRootCa = ({ spec }: WorkloadPod): boolean =>
  (spec.volumes ?? []).some(({ projected }) =>
    projected?.sources.some(({ configMap }) => configMap?.name === ROOT_CA),
  );

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
  touches: ['api'],
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
    return context.withAdministrator(progress, async (client) => {
      await published(context, client, progress);
      const deleted = [];
      // Listed afterwards: a pod that started before knows only the old one.
      for (const pod of await podsTrustingApi(client, limits)) {
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

/**
 * Waits until the controller-manager has published both authorities in every namespace. Where the
 * ConfigMap does not exist, there is nothing to wait for: the namespace is being deleted, or the
 * controller-manager creates it with both.
 */
async function published(
  { paths }: RotateContext,
  client: KubeClient,
  progress: Progress,
): Promise<void> {
  const expected = await readFile(paths.at(controllerManagerTrust.api), 'utf8');
  const outdated = (all: ReadonlyMap<string, z.infer<typeof resources.configMaps.schema>>) =>
    [...all.values()]
      .filter(({ data }) => data?.['ca.crt'] !== expected)
      .map(({ metadata }) => metadata.namespace ?? '');
  const what = `${ROOT_CA} to have both authorities in every namespace`;
  await progress.wait(what, (wait) =>
    watchUntil(
      client,
      resources.configMaps,
      { fieldSelector: `metadata.name=${ROOT_CA}` },
      (all) => (outdated(all).length === 0 ? true : undefined),
      {
        ...wait,
        what,
        describe: (all) => `it has not in ${outdated(all).join(', ')}`,
      },
    ),
  );
}
