/** What a running cluster is given so that workers can join it: rights, the pod network, whom they trust. */
import t, { type Test } from 'tap';
import { kubeClient } from '../../../../lib/clients/kube/client.ts';
import { apiTrustAccess } from '../../../../lib/clients/rights/workers.ts';
import {
  API_TRUST_ANNOTATION,
  trustDigest,
  trusts,
} from '../../../../lib/cluster/workers/api-trust.ts';
import { grantApiTrust } from '../../../../lib/cluster/workers/grant-api-trust.ts';
import { routePods } from '../../../../lib/cluster/workers/route-pods.ts';
import { sha256 } from '../../../../lib/host/files.ts';
import { type ApiAnswer, fakeApi, kubeconfigs, listOf, refuse } from '../../agents/host/api.ts';
import { testHost } from '../../agents/host/host.ts';
import { servingAuthority } from '../../gather/cluster/serve-api.ts';

const limits = { signal: AbortSignal.timeout(120_000), deadlineMs: 60_000 };
const RBAC = '/apis/rbac.authorization.k8s.io/v1/namespaces/kube-system';

async function clientOf(t: Test, answers: Record<string, ApiAnswer>) {
  const host = testHost(t);
  const { requests } = await fakeApi(t, host, answers);
  const [kubeconfig = ''] = Object.values(kubeconfigs);
  const client = await kubeClient(host.at(kubeconfig));
  t.teardown(() => client[Symbol.dispose]());
  return { client, requests };
}

t.test(
  'each right to read the CAs is created where it belongs, and what exists stays',
  async (t) => {
    const bodies: unknown[] = [];
    const answer = (body: string) => {
      bodies.push(JSON.parse(body));
      return bodies.length === 2 ? refuse(409, 'exists', 'AlreadyExists') : JSON.parse(body);
    };
    const { client, requests } = await clientOf(t, {
      [`POST ${RBAC}/roles`]: ({ body }) => answer(body),
      [`POST ${RBAC}/rolebindings`]: ({ body }) => answer(body),
    });
    await grantApiTrust(client, limits);
    t.same(requests, [
      `POST ${RBAC}/roles`,
      `POST ${RBAC}/rolebindings`,
      `POST ${RBAC}/rolebindings`,
    ]);
    t.same(bodies, apiTrustAccess());
  },
);

t.test('a right that is refused is an error', async (t) => {
  const { client } = await clientOf(t, { [`POST ${RBAC}/roles`]: () => refuse(403) });
  await t.rejects(grantApiTrust(client, limits), { code: 403 });
});

t.test('the nodes of the control plane get the pod network, where there is one', async (t) => {
  for (const hasFlannel of [true, false]) {
    const sent: object[] = [];
    const { client, requests } = await clientOf(t, {
      'GET /api/v1/nodes': ({ query }) =>
        query.get('labelSelector') === 'node-role.kubernetes.io/control-plane'
          ? listOf({ metadata: { name: 'edge-0' } })
          : refuse(400),
      'PATCH /api/v1/nodes/edge-0': ({ body, headers }) => {
        sent.push({ type: headers['content-type'], body: JSON.parse(body) });
        return { metadata: { name: 'edge-0' } };
      },
      'GET /apis/apps/v1/namespaces/kube-system/daemonsets/flannel': () =>
        hasFlannel ? { metadata: { name: 'flannel' } } : refuse(404, 'no such', 'NotFound'),
    });
    t.equal(await routePods(client, limits), hasFlannel);
    t.equal(requests.length, 3);
    t.same(sent, [
      {
        type: 'application/merge-patch+json',
        body: { metadata: { labels: { 'sno-agents/routed-pods': '' } } },
      },
    ]);
  }
});

t.test('a Node trusts exactly the CAs of its digest, whatever surrounds them', async (t) => {
  const digest = trustDigest(servingAuthority);
  t.equal(trustDigest(`a comment\n${servingAuthority}\n`), digest);
  t.not(trustDigest(servingAuthority + servingAuthority), digest);
  t.equal(digest, sha256(servingAuthority));
  const node = (annotations?: Record<string, string>) => ({
    metadata: { name: 'worker-0', ...(annotations === undefined ? {} : { annotations }) },
  });
  t.ok(trusts(node({ [API_TRUST_ANNOTATION]: digest }), digest));
  t.notOk(trusts(node({ [API_TRUST_ANNOTATION]: 'another' }), digest));
  t.notOk(trusts(node({ 'another/annotation': digest }), digest));
  t.notOk(trusts(node(), digest));
});
