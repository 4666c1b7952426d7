import t from 'tap';
import { nodeRole } from '../../../../agents/steps/node-role.ts';
import { type ApiAnswer, type ApiRequest, fakeApi, listOf, refuse } from '../host/api.ts';
import { testHost } from '../host/host.ts';

const NODES = '/api/v1/nodes';
const node = { metadata: { name: 'edge-0', uid: 'u' } };

t.test('node-role', async (t) => {
  t.test('labels the registered Node, which the kubelet must not do itself', async (t) => {
    const host = testHost(t);
    const asked: ApiRequest[] = [];
    const { requests } = await fakeApi(t, host, {
      [`GET ${NODES}`]: () => listOf(node),
      [`PATCH ${NODES}/edge-0`]: (request) => {
        asked.push(request);
        return node;
      },
    });
    t.same(await host.run(nodeRole), { kind: 'done' });
    t.same(requests, [`GET ${NODES}`, `PATCH ${NODES}/edge-0`]);
    t.same(JSON.parse(asked[0]?.body ?? ''), {
      metadata: { labels: { 'node-role.kubernetes.io/control-plane': '' } },
    });
    t.equal(await host.holds(nodeRole), true);
    t.same(await host.run(nodeRole), { kind: 'done' }, 'again');
  });

  t.test('with workers of the installation: a taint, and routes to its pods', async (t) => {
    const host = testHost(t, { cluster: { dayOneWorkers: 1 } });
    const asked: ApiRequest[] = [];
    await fakeApi(t, host, {
      [`GET ${NODES}`]: () => listOf(node),
      [`PATCH ${NODES}/edge-0`]: (request) => {
        asked.push(request);
        return node;
      },
    });
    t.same(await host.run(nodeRole), { kind: 'done' });
    t.same(JSON.parse(asked[0]?.body ?? ''), {
      metadata: {
        labels: { 'node-role.kubernetes.io/control-plane': '', 'sno-agents/routed-pods': '' },
      },
      spec: {
        taints: [{ key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' }],
      },
    });
    // A merge patch would replace the taints of a node that is not Ready yet.
    t.equal(asked[0]?.headers['content-type'], 'application/strategic-merge-patch+json');
  });

  t.test('waits until the kubelet has registered it', async (t) => {
    const host = testHost(t);
    await fakeApi(t, host, { [`GET ${NODES}`]: () => listOf() });
    t.ok(
      await host.waitsFor(nodeRole, /node edge-0 to be registered: the node is not registered/),
      host.lines.join(''),
    );
  });

  t.test('fails when the API refuses, so that it is retried', async (t) => {
    const host = testHost(t);
    const answers: Record<string, ApiAnswer> = {
      [`GET ${NODES}`]: () => listOf(node),
      [`PATCH ${NODES}/edge-0`]: () => refuse(403),
    };
    await fakeApi(t, host, answers);
    await t.rejects(host.run(nodeRole), { name: 'KubeError' });
    t.equal(nodeRole.retries, true);
  });
});
