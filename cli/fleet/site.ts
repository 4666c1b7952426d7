import { z } from 'zod';
import { API_VERSION, siteStatusSchema } from '../../lib/engine/report/site-status.ts';

/** Of what people write into a Site: more belongs into a template or a Secret, and 10,000 Sites have to fit into etcd. */
export const SPEC_LIMITS = {
  values: 64,
  value: 1024,
  secrets: 16,
  url: 2048,
  version: 64,
} as const;

/** How a node gets its volume. */
export const DELIVERIES = ['virtualMedia', 'url', 'person'] as const;

const reference = z.object({ name: z.string().min(1).max(253) });

const specSchema = z.object({
  action: z
    .enum(['relocate', 'install', 'update', 'none'])
    .describe('what is wanted of the node; none: nothing, whatever else is here'),
  serial: z.int().min(1).describe('rises for each new run of the action'),
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
          'virtualMedia: the BareMetalHost of Metal3; url: the node asks its siteUrl; person: with a stick',
        ),
      bareMetalHost: reference.optional().describe('in the same namespace'),
    })
    .optional(),
  update: z
    .object({
      url: z.string().max(SPEC_LIMITS.url).describe('of the folder of a signed update'),
      version: z.string().max(SPEC_LIMITS.version),
    })
    .optional(),
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
export type SiteObject = z.infer<typeof siteSchema>;
export type SiteSpec = SiteObject['spec'];
