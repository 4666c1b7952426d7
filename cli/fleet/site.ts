import { z } from 'zod';
import { API_VERSION, siteStatusSchema } from '../../lib/engine/report/site-status.ts';

/** Of what people write into a Site: more belongs into a template or a Secret, and 10,000 Sites have to fit into etcd. */
export const SPEC_LIMITS = {
  values: 64,
  value: 1024,
  secrets: 16,
  url: 2048,
} as const;

/** How a node gets its volume. */
export const DELIVERIES = ['virtualMedia', 'url', 'person'] as const;

const reference = z.object({ name: z.string().min(1).max(253) });

/** The node fetches it: nothing that a shell, a config file or a log could interpret. */
export const updateSchema = z.object({
  url: z
    .string()
    .max(SPEC_LIMITS.url)
    .regex(/^https?:\/\/[^\s"'<>\\^`{|}@?#]+$/)
    .describe('of the folder of a signed update'),
  serial: z.int().min(1).describe('of that update: no other one is taken from there'),
});

const specSchema = z.object({
  action: z
    .enum(['relocate', 'install', 'update', 'none'])
    .describe('what is wanted of the node; none: nothing, whatever else is here'),
  serial: z
    .int()
    .min(1)
    .optional()
    .describe(
      'rises for each new run of the action; if it is left out, the first run has one above all that were used for the machine',
    ),
  templateRef: reference
    .optional()
    .describe(
      'ConfigMap with site-config.yaml or install-config.yaml, and manifests as extra-manifests.NAME.yaml',
    ),
  values: z
    .record(z.string(), z.string().max(SPEC_LIMITS.value))
    .optional()
    .describe('of the placeholders in the template; nothing secret'),
  secretRefs: z
    .array(reference)
    .max(SPEC_LIMITS.secrets)
    .optional()
    .describe('Secrets whose keys are values of the template, too'),
  hostFactsRef: reference
    .optional()
    .describe('ConfigMap with host-facts.json of the node, from its factory'),
  delivery: z
    .object({
      by: z
        .enum(DELIVERIES)
        .describe(
          'virtualMedia: the BareMetalHost of Metal3; url: the node asks its siteUrl, or something boots it from the address; person: with a stick',
        ),
      bareMetalHost: reference.optional().describe('in the same namespace'),
    })
    .optional(),
  update: updateSchema.optional(),
});

/** A site of a fleet: the node that is to be installed, moved or updated there. No controller acts on it. */
export const siteSchema = z.object({
  apiVersion: z.literal(API_VERSION),
  kind: z.literal('Site'),
  metadata: z.object({
    name: z.string(),
    namespace: z.string(),
    labels: z.record(z.string(), z.string()).optional(),
    annotations: z.record(z.string(), z.string()).optional(),
    uid: z.string().optional(),
    resourceVersion: z.string().optional(),
    generation: z.int().optional(),
  }),
  spec: specSchema,
  status: siteStatusSchema.optional(),
});
/** As people write it. */
export type WrittenSite = z.infer<typeof siteSchema>;
export type SiteSpec = WrittenSite['spec'];

/** With the serial of its present run: that which was chosen for it if nobody has written one, 0 if none is chosen yet. */
export type SiteObject = WrittenSite & { readonly spec: { readonly serial: number } };

export const withSerial = (site: WrittenSite): SiteObject => ({
  ...site,
  spec: { ...site.spec, serial: site.spec.serial ?? site.status?.volume?.serial ?? 0 },
});
