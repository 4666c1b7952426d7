import { z } from 'zod';
import { objectSchema, type Resource, resources } from '../../clients/kube/resources.ts';

const taintSchema = z.looseObject({ key: z.string(), effect: z.string() });
const nodeSchema = objectSchema.extend({
  spec: z
    .looseObject({
      podCIDR: z.string().optional(),
      podCIDRs: z.array(z.string()).optional(),
      taints: z.array(taintSchema).optional(),
      unschedulable: z.boolean().optional(),
      providerID: z.string().optional(),
    })
    .optional(),
  status: z
    .looseObject({
      capacity: z.record(z.string(), z.string()).optional(),
      allocatable: z.record(z.string(), z.string()).optional(),
    })
    .optional(),
});
export type NodeObject = z.infer<typeof nodeSchema>;

const podSchema = objectSchema.extend({
  metadata: objectSchema.shape.metadata.extend({
    namespace: z.string(),
    deletionGracePeriodSeconds: z.number().optional(),
    ownerReferences: z.array(z.looseObject({ controller: z.boolean().optional() })).optional(),
  }),
  spec: z.looseObject({ nodeName: z.string().optional(), hostNetwork: z.boolean().optional() }),
});
export type PodObject = z.infer<typeof podSchema>;

const termSchema = z.looseObject({
  matchExpressions: z
    .array(z.looseObject({ key: z.string(), values: z.array(z.string()).optional() }))
    .optional(),
});
/** A PersistentVolume, as far as it is tied to a Node. All of it is kept. */
export const volumeSchema = objectSchema.extend({
  spec: z.looseObject({
    nodeAffinity: z
      .looseObject({
        required: z.looseObject({ nodeSelectorTerms: z.array(termSchema) }).optional(),
      })
      .optional(),
  }),
});
export type VolumeObject = z.infer<typeof volumeSchema>;

const claimSchema = objectSchema.extend({
  metadata: objectSchema.shape.metadata.extend({ namespace: z.string() }),
  spec: z.looseObject({ volumeName: z.string().optional() }),
});
export type ClaimObject = z.infer<typeof claimSchema>;

const attachmentSchema = objectSchema.extend({ spec: z.looseObject({ nodeName: z.string() }) });
export type AttachmentObject = z.infer<typeof attachmentSchema>;

/** The kinds of objects that name a Node or what the cluster trusts. */
export const listed = {
  nodes: { apiVersion: 'v1', plural: 'nodes', schema: nodeSchema },
  pods: { apiVersion: 'v1', plural: 'pods', schema: podSchema },
  volumes: { apiVersion: 'v1', plural: 'persistentvolumes', schema: volumeSchema },
  claims: { apiVersion: 'v1', plural: 'persistentvolumeclaims', schema: claimSchema },
  attachments: {
    apiVersion: 'storage.k8s.io/v1',
    plural: 'volumeattachments',
    schema: attachmentSchema,
  },
  csiNodes: { apiVersion: 'storage.k8s.io/v1', plural: 'csinodes', schema: objectSchema },
  leases: resources.leases,
  configMaps: resources.configMaps,
} as const satisfies Record<string, Resource>;

/** What the API server has of them now. */
export interface ListedObjects {
  readonly nodes: readonly NodeObject[];
  readonly pods: readonly PodObject[];
  readonly volumes: readonly VolumeObject[];
  readonly claims: readonly ClaimObject[];
  readonly attachments: readonly AttachmentObject[];
  readonly csiNodes: readonly z.infer<typeof objectSchema>[];
  /** Those of kubelets, in kube-node-lease. */
  readonly leases: readonly z.infer<typeof resources.leases.schema>[];
  /** `kube-root-ca.crt` of every namespace. */
  readonly rootCas: readonly z.infer<typeof resources.configMaps.schema>[];
}
