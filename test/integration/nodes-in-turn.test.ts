/** A real API server takes the strategy under which each node replaces its own pods, and numbers the templates. */
import { join } from 'node:path';
import t from 'tap';
import { inTurn } from '../../agents/upkeep/update/nodes-in-turn.ts';
import { startControlPlane } from '../../lab/servers/control-plane.ts';
import { applyChanged } from '../../lib/clients/kube/apply-changed.ts';
import { decodeManifests, type Manifest } from '../../lib/clients/kube/manifest-decoding.ts';
import { objectSchema, type Resource } from '../../lib/clients/kube/resources.ts';
import { withAddOns } from '../unit/render/addon-objects.ts';

const { signal } = new AbortController();
const limits = { signal, deadlineMs: 10_000 };
const sets: Resource = { apiVersion: 'apps/v1', plural: 'daemonsets', schema: objectSchema };
const nodes: Resource = { apiVersion: 'v1', plural: 'nodes', schema: objectSchema };
const GENERATION = 'deprecated.daemonset.template.generation';

const all = withAddOns.manifests.flatMap(
  ({ name, contents }) => decodeManifests(name, contents).manifests,
);
const proxy = all.filter(({ kind, name }) => kind === 'DaemonSet' && name === 'kube-proxy');
/** The same with another image in its template. */
const changed = proxy.map((manifest): Manifest => {
  const text = JSON.stringify(manifest.object).replace(/"image":"[^"]+"/, '"image":"r.test/next"');
  return { ...manifest, object: JSON.parse(text) };
});

t.test(
  'the strategy changes and comes back, and only a new template has a new number',
  async (t) => {
    t.equal(proxy.length, 1);
    const server = await startControlPlane(join(t.testdir(), 'control-plane'), signal);
    t.teardown(() => server.stop());
    using client = await server.client();
    for (const name of ['edge-0', 'worker-0']) {
      const body = { apiVersion: 'v1', kind: 'Node', metadata: { name } };
      await client.json({ method: 'POST', path: '/api/v1/nodes', body }, limits);
    }
    const state = async () => {
      const place = { namespace: 'kube-system', name: 'kube-proxy' };
      const { metadata, ...rest } = await client.get(sets, place, limits);
      return { ...rest, generation: metadata.annotations?.[GENERATION] };
    };
    await applyChanged(client, proxy, limits);
    t.match(await state(), {
      spec: { updateStrategy: { type: 'RollingUpdate' } },
      generation: '1',
    });
    await applyChanged(client, await inTurn(client, changed, 'edge-0', limits), limits);
    t.match(await state(), { spec: { updateStrategy: { type: 'OnDelete' } }, generation: '2' });
    await applyChanged(client, await inTurn(client, changed, 'edge-0', limits), limits);
    t.match(await state(), { generation: '2' }, 'a second time it replaces nothing');
    await client.remove(nodes, { name: 'worker-0' }, limits);
    await applyChanged(client, await inTurn(client, changed, 'edge-0', limits), limits);
    t.match(await state(), {
      spec: { updateStrategy: { type: 'RollingUpdate' } },
      generation: '2',
    });
  },
);
