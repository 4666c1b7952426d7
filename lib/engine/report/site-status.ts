import { z } from 'zod';
import { CHANGE_STATES, REPORTED_CHANGES } from './node-report.ts';

/** Of the API that a hub serves for sites. */
export const FLEET = {
  group: 'fleet.sno-agents.io',
  version: 'v1alpha1',
  plural: 'sites',
} as const;
export const API_VERSION = `${FLEET.group}/${FLEET.version}`;

/** The group of all sites' certificates, and the user name of one. */
export const SITES_GROUP = 'sno:sites';
export const siteUser = (namespace: string, name: string) => `sno:site:${namespace}:${name}`;

/** Who owns which part of a Site's status (server-side apply): the node, or a run of `sno fleet`. */
export const FIELD_MANAGERS = { node: 'sno-node', worker: 'sno-fleet' } as const;

/** `Rendered` and `Delivered` are those of the hub, the others those of the node. `Completed` and `Failed` mean what they do in Hive's ClusterInstall. */
export const CONDITIONS = ['Rendered', 'Delivered', 'Started', 'Completed', 'Failed'] as const;
export const NODE_CONDITIONS = ['Started', 'Completed', 'Failed'] as const;

/**
 * Most characters of what is written into a status: the API server refuses more, so that 10,000 Sites fit into etcd.
 * `texts`: of all texts and messages of a node together.
 */
export const STATUS_LIMITS = {
  reason: 64,
  message: 2048,
  node: 253,
  version: 64,
  certificate: 64,
  step: 96,
  what: 1024,
  fix: 1024,
  texts: 8192,
  url: 2048,
} as const;

export const siteConditionSchema = z.object({
  type: z.enum(CONDITIONS),
  status: z.enum(['True', 'False', 'Unknown']),
  reason: z.string().max(STATUS_LIMITS.reason).describe('a failure code, or a word'),
  message: z.string().max(STATUS_LIMITS.message),
  lastTransitionTime: z.iso.datetime(),
});
export type SiteCondition = z.infer<typeof siteConditionSchema>;

/** The status of a Site: what the hub did, and what the node said. */
export const siteStatusSchema = z.object({
  conditions: z.array(siteConditionSchema).max(CONDITIONS.length).optional(),
  volume: z
    .object({
      url: z.string().max(STATUS_LIMITS.url).optional(),
      sha256: z.string().max(80).optional(),
      serial: z.int(),
      action: z.string().max(32).optional().describe('for which action'),
      publishedAt: z.iso.datetime(),
      controlPlane: z
        .enum(['openshift'])
        .optional()
        .describe('of a node that no Site updates, as its factory says'),
    })
    .optional()
    .describe('what the hub made for the node'),
  report: z
    .object({
      // One that leaves room to count on: no number ends the reports of a Site.
      sequence: z
        .int()
        .min(0)
        .max(2 ** 52),
      at: z.iso.datetime(),
      site: z.uuid().optional().describe('uid of the Site that the node reports to'),
      serial: z.int().optional().describe('of the Site by which the node was installed'),
      node: z.string().max(STATUS_LIMITS.node),
      version: z.string().max(STATUS_LIMITS.version),
      nextExpiry: z
        .object({
          certificate: z.string().max(STATUS_LIMITS.certificate),
          notAfter: z.iso.datetime(),
        })
        .optional()
        .describe('the certificate of the node that ends first'),
      changes: z
        .array(
          z.object({
            change: z.enum(REPORTED_CHANGES),
            state: z.enum(CHANGE_STATES),
            at: z.iso.datetime(),
            serial: z.int().optional(),
            asked: z.int().optional().describe('serial of the Site that has asked for the update'),
            step: z
              .string()
              .max(STATUS_LIMITS.step)
              .optional()
              .describe('NUMBER/OF NAME, while it runs'),
            code: z.string().max(STATUS_LIMITS.reason).optional(),
            what: z.string().max(STATUS_LIMITS.what).optional(),
            fix: z.string().max(STATUS_LIMITS.fix).optional(),
          }),
        )
        .max(REPORTED_CHANGES.length)
        // Server-side apply leaves out an empty list: that of a node which has not begun.
        .default([]),
    })
    .optional()
    .describe('what the node said last'),
});
export type SiteStatus = z.infer<typeof siteStatusSchema>;
