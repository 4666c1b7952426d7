/** Where the objects are that name a Node, and which answers of the API server are not taken for them. */
import t from 'tap';
import type { z } from 'zod';
import { listed } from '../../../../lib/change/identity/objects.ts';
import { resourcePath } from '../../../../lib/clients/kube/resources.ts';

t.test('each kind is where the API server serves it', async (t) => {
  t.strictSame(
    Object.fromEntries(
      Object.entries(listed).map(([kind, resource]) => [kind, resourcePath(resource, {})]),
    ),
    {
      nodes: '/api/v1/nodes',
      pods: '/api/v1/pods',
      volumes: '/api/v1/persistentvolumes',
      claims: '/api/v1/persistentvolumeclaims',
      attachments: '/apis/storage.k8s.io/v1/volumeattachments',
      csiNodes: '/apis/storage.k8s.io/v1/csinodes',
      leases: '/apis/coordination.k8s.io/v1/leases',
      configMaps: '/api/v1/configmaps',
    },
  );
});

const metadata = { name: 'x' };
const placed = { name: 'x', namespace: 'shop' };
const spec = {};
const affinity = (required: unknown) => ({ metadata, spec: { nodeAffinity: { required } } });
const terms = (...nodeSelectorTerms: unknown[]) => affinity({ nodeSelectorTerms });

interface Shapes {
  readonly schema: z.ZodType;
  readonly good: readonly object[];
  readonly bad: readonly object[];
}

const SHAPES: Record<string, Shapes> = {
  nodes: {
    schema: listed.nodes.schema,
    good: [
      { metadata },
      { metadata, spec: { taints: [{ key: 'a', effect: 'NoSchedule', value: 'b' }] }, status: {} },
    ],
    bad: [
      { metadata: {} },
      { metadata, spec: { podCIDR: 1 } },
      { metadata, spec: { podCIDRs: '10.0.0.0/24' } },
      { metadata, spec: { taints: [{ effect: 'NoSchedule' }] } },
      { metadata, spec: { taints: [{ key: 'a' }] } },
      { metadata, spec: { unschedulable: 'yes' } },
      { metadata, spec: { providerID: 1 } },
      { metadata, spec: 'none' },
      { metadata, status: { capacity: 'much' } },
      { metadata, status: { allocatable: [1] } },
      { metadata, status: 'ready' },
    ],
  },
  pods: {
    schema: listed.pods.schema,
    good: [
      { metadata: placed, spec },
      {
        metadata: { ...placed, ownerReferences: [{}] },
        spec: { nodeName: 'a', hostNetwork: true },
      },
    ],
    bad: [
      { metadata, spec },
      { metadata: placed },
      { metadata: { ...placed, deletionGracePeriodSeconds: '30' }, spec },
      { metadata: { ...placed, ownerReferences: {} }, spec },
      { metadata: { ...placed, ownerReferences: [{ controller: 'yes' }] }, spec },
      { metadata: placed, spec: { nodeName: 1 } },
      { metadata: placed, spec: { hostNetwork: 'yes' } },
    ],
  },
  volumes: {
    schema: listed.volumes.schema,
    good: [
      { metadata, spec },
      { metadata, spec: { nodeAffinity: {} } },
      terms({}),
      terms({ matchExpressions: [{ key: 'a', operator: 'Exists' }] }),
    ],
    bad: [
      { metadata },
      { metadata, spec: { nodeAffinity: 'none' } },
      affinity('none'),
      affinity({}),
      terms('none'),
      terms({ matchExpressions: {} }),
      terms({ matchExpressions: [{ values: [] }] }),
      terms({ matchExpressions: [{ key: 'a', values: 'edge-0' }] }),
    ],
  },
  claims: {
    schema: listed.claims.schema,
    good: [{ metadata: placed, spec }],
    bad: [{ metadata, spec }, { metadata: placed }, { metadata: placed, spec: { volumeName: 1 } }],
  },
  attachments: {
    schema: listed.attachments.schema,
    good: [{ metadata, spec: { nodeName: 'a', attacher: 'b' } }],
    bad: [{ metadata }, { metadata, spec }, { metadata, spec: { nodeName: 1 } }],
  },
  csiNodes: { schema: listed.csiNodes.schema, good: [{ metadata, spec }], bad: [{}] },
};

for (const [kind, { schema, good, bad }] of Object.entries(SHAPES)) {
  t.test(`${kind}: what is not named is kept, what has another shape is refused`, async (t) => {
    for (const object of good) t.strictSame(schema.parse(object), object);
    for (const object of bad) t.notOk(schema.safeParse(object).success, JSON.stringify(object));
  });
}
