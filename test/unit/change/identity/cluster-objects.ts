/** Objects of a cluster with the host edge-0, and what a change of its identity does to them. */
import { changesOf, type IdentityChange } from '../../../../lib/change/identity/changes.ts';
import { type Identity, identityOf } from '../../../../lib/change/identity/identity.ts';
import type {
  ListedObjects,
  NodeObject,
  PodObject,
  VolumeObject,
} from '../../../../lib/change/identity/objects.ts';
import { input } from '../../render/rendered-host.ts';

export const from = identityOf(input);
export const renamed: Identity = { ...from, hostname: 'edge-9' };
export const moved: Identity = { ...from, nodeIps: ['192.0.2.77'] };
export const CA = 'the CA';

const nothing: ListedObjects = {
  nodes: [],
  pods: [],
  volumes: [],
  claims: [],
  attachments: [],
  csiNodes: [],
  leases: [],
  rootCas: [],
};
export const changes = (
  objects: Partial<ListedObjects>,
  to = renamed,
  saved: VolumeObject[] = [],
) => changesOf({ from, to, rootCa: CA, saved }, { ...nothing, ...objects });
/** `do plural/name`, in order. */
export const brief = (all: readonly IdentityChange[]) =>
  all.map(({ do: what, resource, namespace, name }) =>
    [what, resource.plural, namespace, name].filter((part) => part !== undefined).join(' '),
  );

export const node = (name: string, more: object = {}): NodeObject => ({
  metadata: { name, uid: `uid of ${name}` },
  ...more,
});
export const pod = (
  name: string,
  nodeName: string,
  more: Partial<PodObject['metadata']> = {},
  spec = {},
): PodObject => ({
  metadata: { name, namespace: 'shop', uid: `uid of ${name}`, ...more },
  spec: { nodeName, ...spec },
  status: { hostIP: from.nodeIps[0] },
});
export const controlled = { ownerReferences: [{ controller: true }] };
export const volume = (
  name: string,
  values: string[],
  more: Partial<VolumeObject['metadata']> = {},
): VolumeObject => ({
  metadata: { name, uid: `uid of ${name}`, finalizers: ['kubernetes.io/pv-protection'], ...more },
  spec: {
    claimRef: { namespace: 'shop', name: 'data', uid: 'uid of the claim' },
    persistentVolumeReclaimPolicy: 'Retain',
    hostPath: { path: '/data/1' },
    nodeAffinity: {
      required: {
        nodeSelectorTerms: [
          { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values }] },
        ],
      },
    },
  },
  status: { phase: 'Bound' },
});
