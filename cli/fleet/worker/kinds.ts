import { z } from 'zod';
import { objectSchema, type Resource, resources } from '../../../lib/clients/kube/resources.ts';
import { API_VERSION, FLEET, siteStatusSchema } from '../../../lib/engine/report/site-status.ts';
import { type SiteObject, siteSchema, withSerial } from '../site.ts';

/**
 * A Site as the hub has it. What a node has written into its status is that node's: if it is not as it should be, it counts
 * as nothing, and the rest of the Site is read.
 */
const writtenSite = siteSchema.extend({
  status: siteStatusSchema
    .extend({
      conditions: siteStatusSchema.shape.conditions.catch(undefined),
      report: siteStatusSchema.shape.report.catch(undefined),
    })
    .optional(),
});
export type HubSite = SiteObject;

const secretSchema = objectSchema.extend({ data: z.record(z.string(), z.base64()).optional() });
export type HubSecret = z.infer<typeof secretSchema>;

const hostSchema = objectSchema.extend({
  spec: z
    .looseObject({
      image: z.looseObject({ url: z.string().optional() }).optional(),
      externallyProvisioned: z.boolean().optional(),
    })
    .optional(),
});

const ownedSchema = objectSchema.extend({
  metadata: objectSchema.shape.metadata.extend({
    ownerReferences: z.array(z.looseObject({ uid: z.string() })).optional(),
  }),
});

const METAL3 = 'metal3.io/v1alpha1';

const sites: Resource<HubSite> = {
  apiVersion: API_VERSION,
  plural: FLEET.plural,
  schema: writtenSite.transform(withSerial),
};
const secrets: Resource<HubSecret> = { ...resources.secrets, schema: secretSchema };

/** What a worker reads and writes on a hub. */
export const hubKinds = {
  sites,
  secrets,
  configMaps: resources.configMaps,
  leases: resources.leases,
  bareMetalHosts: { apiVersion: METAL3, plural: 'baremetalhosts', schema: hostSchema },
  dataImages: { apiVersion: METAL3, plural: 'dataimages', schema: ownedSchema },
} as const;

const LONGEST_LABEL = 63;

/** Of an object that a worker makes for a Site; it is deleted with the Site if `isOwned`. */
export function metadataOf(
  { metadata: { name: site, namespace, uid } }: HubSite,
  name: string,
  { isOwned, labels = {} }: { readonly isOwned: boolean; readonly labels?: object },
) {
  return {
    name,
    namespace,
    labels: {
      'app.kubernetes.io/managed-by': 'sno-fleet',
      ...(site.length <= LONGEST_LABEL ? { [`${FLEET.group}/site`]: site } : {}),
      ...labels,
    },
    ...(isOwned && uid !== undefined
      ? { ownerReferences: [{ apiVersion: API_VERSION, kind: 'Site', name: site, uid }] }
      : {}),
  };
}
