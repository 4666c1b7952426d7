import { z } from 'zod';
import { Failure } from '../../lib/base/errors/failure.ts';
import { KubeClient } from '../../lib/clients/kube/client.ts';
import { isKubeError } from '../../lib/clients/kube/kube-error.ts';
import { objectSchema, type Resource } from '../../lib/clients/kube/resources.ts';
import { API_VERSION, FIELD_MANAGERS, FLEET } from '../../lib/engine/report/site-status.ts';
import type { Surroundings } from '../surroundings.ts';
import { hubAccess } from './hub-access.ts';
import { requireName, requireSelector } from './names.ts';
import { type SiteObject, siteSchema, withSerial } from './site.ts';

export interface ReadSitesOptions {
  readonly kubeconfig?: string;
  readonly namespace: string;
  readonly selector?: string;
}

/** A Site of the hub, and when the hub heard of its node last, by the clock of the hub. */
export interface SeenSite {
  readonly name: string;
  /** Undefined: it is not one of this version. */
  readonly site: SiteObject | undefined;
  readonly heardAt: Date | undefined;
}

/** Not judged here: one Site of a newer version must not hide 9,999 others. */
const sites: Resource = { apiVersion: API_VERSION, plural: FLEET.plural, schema: objectSchema };

const PAGE_MS = 60_000;

/**
 * The Sites of a namespace, by name. Only one page of them is in memory as the API server sends it.
 *
 * @throws Failure (usage) for options, and for a hub that has no Sites; KubeError
 */
export async function readSites(
  { kubeconfig, namespace, selector }: ReadSitesOptions,
  surroundings: Pick<Surroundings, 'environment' | 'signal'>,
): Promise<SeenSite[]> {
  const { signal } = surroundings;
  const selection = {
    namespace: requireName('--namespace', namespace),
    ...(selector === undefined ? {} : { labelSelector: requireSelector(selector) }),
  };
  using client = new KubeClient(await hubAccess(kubeconfig, surroundings));
  const seen: SeenSite[] = [];
  try {
    for await (const { items } of client.pages(sites, selection, { signal, deadlineMs: PAGE_MS })) {
      seen.push(...items.map(seenSite));
    }
  } catch (error) {
    if (!isKubeError(error, 'not-found')) throw error;
    throw new Failure('usage', 'the hub has no Sites', {
      found: `its API server does not know ${FLEET.plural}.${FLEET.group}`,
      fix: 'Apply deploy/fleet/crd.yaml there: docs/fleet.md has all of it.',
    });
  }
  return seen;
}

const managedSchema = z.object({
  metadata: z.object({
    managedFields: z.array(
      z.object({
        manager: z.string().optional(),
        time: z.iso.datetime({ offset: true }).optional(),
      }),
    ),
  }),
});

/** The clock of a node may be wrong; the API server notes when somebody has written which part of an object. */
export function seenSite(object: unknown): SeenSite {
  const { managedFields } = managedSchema.safeParse(object).data?.metadata ?? {
    managedFields: [],
  };
  const times = managedFields
    .filter(({ manager }) => manager === FIELD_MANAGERS.node)
    .map(({ time }) => Date.parse(time ?? ''))
    .filter((time) => !Number.isNaN(time));
  const site = siteSchema.safeParse(object).data;
  return {
    name: objectSchema.safeParse(object).data?.metadata.name ?? 'a Site without a name',
    site: site && withSerial(site),
    heardAt: times.length === 0 ? undefined : new Date(Math.max(...times)),
  };
}
