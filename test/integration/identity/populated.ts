import { applyManifests } from '../../../lib/clients/kube/apply.ts';
import { decodeManifests } from '../../../lib/clients/kube/manifest-decoding.ts';
import type { Rendered } from '../../../lib/render/renderer.ts';
import { eventually } from '../control-plane/world.ts';
import type { IdentityHost } from './host.ts';

export const NODES = '/api/v1/nodes';
export const VOLUMES = '/api/v1/persistentvolumes';
export const SHOP = '/api/v1/namespaces/shop';
export const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
export const CSI_NODES = '/apis/storage.k8s.io/v1/csinodes';

export const POD_CIDR = '10.128.0.0/23';

/** What a running node of that name has. Returns the uid of its claim. */
export async function populate(
  host: IdentityHost,
  rendered: Rendered,
  hostname: string,
): Promise<{ claim: string }> {
  const { create, code, withApi } = host;
  const manifests = rendered.manifests.flatMap(
    ({ name, contents }) => decodeManifests(name, contents).manifests,
  );
  await withApi((client) =>
    applyManifests(
      client,
      { manifests, faults: [] },
      { signal: AbortSignal.timeout(60_000), deadlineMs: 60_000, concurrency: 4, report: () => {} },
    ),
  );
  const labels = { 'kubernetes.io/hostname': hostname, zone: 'a' };
  await create(NODES, {
    metadata: { name: hostname, labels, annotations: { note: 'keep' } },
    spec: {
      podCIDR: POD_CIDR,
      podCIDRs: [POD_CIDR],
      taints: [{ key: 'dedicated', value: 'x', effect: 'NoSchedule' }],
    },
    status: { capacity: { pods: '110' }, allocatable: { pods: '110' } },
  });
  await create(LEASES, {
    metadata: { name: hostname },
    spec: { holderIdentity: hostname },
  });
  await create(CSI_NODES, { metadata: { name: hostname }, spec: { drivers: [] } });
  await create('/api/v1/namespaces', { metadata: { name: 'shop' } });
  const size = { storage: '1Gi' };
  const accessModes = ['ReadWriteOnce'];
  const claim = await create(`${SHOP}/persistentvolumeclaims`, {
    metadata: { name: 'data' },
    spec: {
      accessModes,
      storageClassName: 'local',
      volumeName: 'pv-1',
      resources: { requests: size },
    },
  });
  const term = { key: 'kubernetes.io/hostname', operator: 'In', values: [hostname] };
  await create(VOLUMES, {
    metadata: { name: 'pv-1', labels: { kind: 'disk' } },
    spec: {
      accessModes,
      capacity: size,
      storageClassName: 'local',
      persistentVolumeReclaimPolicy: 'Retain',
      local: { path: '/data/1' },
      claimRef: { namespace: 'shop', name: 'data', uid: claim.metadata.uid },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [term] }] } },
    },
  });
  await isBound(host);
  await eventually('the default service account', async () =>
    (await code(`${SHOP}/serviceaccounts/default`)) === 200 ? true : undefined,
  );
  for (const name of ['web', 'last']) await createPod(host, name, hostname);
  return { claim: claim.metadata.uid };
}

export const createPod = ({ create }: IdentityHost, name: string, nodeName: string) =>
  create(`${SHOP}/pods`, {
    metadata: { name },
    spec: { nodeName, containers: [{ name, image: 'example.test/web:1' }] },
  });

/** Both sides, by the real controller. */
export const isBound = ({ get }: IdentityHost) =>
  eventually('volume and claim to be bound', async () => {
    const volume = await get(`${VOLUMES}/pv-1`);
    const claim = await get(`${SHOP}/persistentvolumeclaims/data`);
    return volume.status.phase === 'Bound' && claim.status.phase === 'Bound' ? true : undefined;
  });
