import { z } from 'zod';
import type { RunningCluster } from '../checks/check.ts';
import { kubectl } from '../checks/kubectl.ts';

const podsSchema = z.object({
  items: z.array(
    z.object({
      metadata: z.object({
        namespace: z.string(),
        name: z.string(),
        ownerReferences: z.array(z.unknown()).default([]),
      }),
      status: z.object({
        containerStatuses: z
          .array(z.object({ name: z.string(), containerID: z.string().optional() }))
          .default([]),
      }),
    }),
  ),
});

/**
 * Every container of the cluster by its pod; another id is another process. Static pods belong to the
 * Node; pods without an owner are those of earlier checks, which are being deleted.
 */
export async function containers(
  cluster: RunningCluster,
  signal: AbortSignal,
): Promise<Map<string, string>> {
  const text = await kubectl(cluster, ['get', 'pods', '-A', '-o', 'json'], signal);
  return new Map(
    podsSchema
      .parse(JSON.parse(text))
      .items.filter(({ metadata }) => metadata.ownerReferences.length > 0)
      .flatMap(({ metadata, status }) =>
        status.containerStatuses.map(({ name, containerID = '' }): [string, string] => [
          `${metadata.namespace}/${metadata.name}/${name}`,
          containerID,
        ]),
      ),
  );
}

/** Names of the containers of `before` that are gone or were replaced. */
export const restartedOf = (
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): string[] => [...before].filter(([name, id]) => after.get(name) !== id).map(([name]) => name);
