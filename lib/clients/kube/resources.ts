import { z } from 'zod';

/** A kind of object that the API serves, and the schema of what is read of it. */
export interface Resource<T extends KubeObject = KubeObject> {
  /** Such as `v1` or `certificates.k8s.io/v1`. */
  readonly apiVersion: string;
  /** Its name in paths: lower case, plural. */
  readonly plural: string;
  /** Fields that the schema does not name are kept, so that an object can be sent back. */
  readonly schema: z.ZodType<T>;
}

const timestamp = z.iso.datetime({ offset: true });

const metadataSchema = z.looseObject({
  name: z.string(),
  namespace: z.string().optional(),
  uid: z.string().optional(),
  resourceVersion: z.string().optional(),
  generation: z.number().optional(),
  creationTimestamp: timestamp.nullish(),
  deletionTimestamp: timestamp.optional(),
  labels: z.record(z.string(), z.string()).optional(),
  annotations: z.record(z.string(), z.string()).optional(),
});

const conditionSchema = z.looseObject({
  type: z.string(),
  status: z.string(),
  reason: z.string().optional(),
  message: z.string().optional(),
});

/** What every object has. */
export const objectSchema = z.looseObject({ metadata: metadataSchema });
export type KubeObject = z.infer<typeof objectSchema>;

const nodeSchema = objectSchema.extend({
  spec: z
    .looseObject({
      podCIDRs: z.array(z.string()).optional(),
      unschedulable: z.boolean().optional(),
    })
    .optional(),
  status: z
    .looseObject({
      conditions: z
        .array(conditionSchema.extend({ lastHeartbeatTime: timestamp.nullish() }))
        .optional(),
      addresses: z.array(z.looseObject({ type: z.string(), address: z.string() })).optional(),
      nodeInfo: z.looseObject({ kubeletVersion: z.string() }).optional(),
    })
    .optional(),
});
export type Node = z.infer<typeof nodeSchema>;

/** The addresses by which a Node is known in its cluster, as its kubelet has written them. */
export const internalIps = ({ status }: Node): string[] =>
  (status?.addresses ?? []).flatMap(({ type, address }) =>
    type === 'InternalIP' ? [address] : [],
  );

const containerStatusSchema = z.looseObject({
  name: z.string(),
  restartCount: z.number(),
  containerID: z.string().optional(),
  state: z
    .looseObject({
      running: z.looseObject({ startedAt: timestamp.nullish() }).optional(),
      waiting: z
        .looseObject({ reason: z.string().optional(), message: z.string().optional() })
        .optional(),
    })
    .optional(),
});

const podSchema = objectSchema.extend({
  status: z
    .looseObject({
      phase: z.string().optional(),
      conditions: z.array(conditionSchema).optional(),
      containerStatuses: z.array(containerStatusSchema).optional(),
    })
    .optional(),
});
export type Pod = z.infer<typeof podSchema>;

const leaseSchema = objectSchema.extend({
  spec: z
    .looseObject({
      holderIdentity: z.string().nullish(),
      leaseDurationSeconds: z.number().nullish(),
      acquireTime: timestamp.nullish(),
      renewTime: timestamp.nullish(),
    })
    .optional(),
});
export type Lease = z.infer<typeof leaseSchema>;

const conditionedSchema = objectSchema.extend({
  status: z.looseObject({ conditions: z.array(conditionSchema).nullish() }).optional(),
});
/** Any object whose state is in its conditions alone. */
export type Conditioned = z.infer<typeof conditionedSchema>;

const configMapSchema = objectSchema.extend({
  data: z.record(z.string(), z.string()).optional(),
});

const csrSchema = objectSchema.extend({
  spec: z.looseObject({
    /** The PKCS#10 request: PEM in base64. */
    request: z.base64(),
    signerName: z.string(),
    expirationSeconds: z.number().optional(),
    usages: z.array(z.string()).optional(),
    username: z.string().optional(),
    /** Further attributes of the requestor, by key. */
    extra: z.record(z.string(), z.array(z.string())).optional(),
    groups: z.array(z.string()).optional(),
  }),
  status: z
    .looseObject({
      certificate: z.base64().optional(),
      conditions: z.array(conditionSchema).optional(),
    })
    .optional(),
});
export type CertificateSigningRequest = z.infer<typeof csrSchema>;

export const resources = {
  nodes: { apiVersion: 'v1', plural: 'nodes', schema: nodeSchema },
  pods: { apiVersion: 'v1', plural: 'pods', schema: podSchema },
  configMaps: { apiVersion: 'v1', plural: 'configmaps', schema: configMapSchema },
  secrets: { apiVersion: 'v1', plural: 'secrets', schema: objectSchema },
  daemonSets: { apiVersion: 'apps/v1', plural: 'daemonsets', schema: objectSchema },
  leases: { apiVersion: 'coordination.k8s.io/v1', plural: 'leases', schema: leaseSchema },
  apiServices: {
    apiVersion: 'apiregistration.k8s.io/v1',
    plural: 'apiservices',
    schema: conditionedSchema,
  },
  customResourceDefinitions: {
    apiVersion: 'apiextensions.k8s.io/v1',
    plural: 'customresourcedefinitions',
    schema: conditionedSchema,
  },
  certificateSigningRequests: {
    apiVersion: 'certificates.k8s.io/v1',
    plural: 'certificatesigningrequests',
    schema: csrSchema,
  },
} as const;

export interface ObjectPlace {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
}

/** A path such as `/api/v1/namespaces/kube-system/pods/etcd/status`. */
export function resourcePath(
  { apiVersion, plural }: Pick<Resource, 'apiVersion' | 'plural'>,
  { namespace, name, subresource }: ObjectPlace,
): string {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const scope = namespace === undefined ? [] : ['namespaces', namespace];
  const parts = [...scope, plural, ...[name, subresource].filter((part) => part !== undefined)];
  return [root, ...parts.map(encodeURIComponent)].join('/');
}
