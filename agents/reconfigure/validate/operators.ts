import { z } from 'zod';
import type { Limits } from '../../../lib/base/wait/limits.ts';
import type { KubeClient } from '../../../lib/clients/kube/client.ts';
import { isKubeError } from '../../../lib/clients/kube/kube-error.ts';
import {
  type KubeObject,
  objectSchema,
  type Resource,
} from '../../../lib/clients/kube/resources.ts';
import type { NodeFacts } from '../../../lib/relocation/relocatable/validation/facts.ts';

const olm = 'operators.coreos.com/v1alpha1';

const versionSchema = objectSchema.extend({
  status: z.looseObject({ phase: z.string().optional(), message: z.string().optional() }).nullish(),
});
const catalogSchema = objectSchema.extend({
  spec: z.looseObject({
    image: z.string().optional(),
    updateStrategy: z
      .looseObject({ registryPoll: z.looseObject({ interval: z.string().optional() }).nullish() })
      .nullish(),
  }),
});
const clusterServiceVersions: Resource<z.infer<typeof versionSchema>> = {
  apiVersion: olm,
  plural: 'clusterserviceversions',
  schema: versionSchema,
};
const catalogSources: Resource<z.infer<typeof catalogSchema>> = {
  apiVersion: olm,
  plural: 'catalogsources',
  schema: catalogSchema,
};

/** Operators that OLM has not installed to the end, and catalogs that ask a registry by themselves; none of either without OLM. */
export async function installedOperators(
  client: KubeClient,
  limits: Limits,
): Promise<NodeFacts['operators']> {
  // OLM copies each into every namespace in which its operator watches.
  const versions = await listed(client, clusterServiceVersions, '!olm.copiedFrom', limits);
  const catalogs = await listed(client, catalogSources, undefined, limits);
  return {
    faults: versions
      .filter(({ status }) => status?.phase !== 'Succeeded')
      .map(
        ({ metadata, status }) =>
          `ClusterServiceVersion ${metadata.namespace}/${metadata.name} is ${status?.phase ?? 'of no phase'}${status?.message ? ` (${status.message})` : ''}: the operator is not installed`,
      ),
    notes: catalogs
      .filter(({ spec }) => spec.updateStrategy?.registryPoll)
      .map(
        ({ metadata, spec }) =>
          `CatalogSource ${metadata.namespace}/${metadata.name} polls the registry of ${spec.image ?? 'its image'} every ${spec.updateStrategy?.registryPoll?.interval ?? 'few minutes'}, and goes on with what it has where nothing answers`,
      ),
  };
}

async function listed<T extends KubeObject>(
  client: KubeClient,
  resource: Resource<T>,
  labelSelector: string | undefined,
  limits: Limits,
): Promise<readonly T[]> {
  const place = labelSelector === undefined ? {} : { labelSelector };
  try {
    return (await client.list(resource, place, limits)).items;
  } catch (error) {
    if (isKubeError(error, 'not-found')) return [];
    throw error;
  }
}
