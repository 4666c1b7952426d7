import t, { type Test } from 'tap';
import { type ApplyOptions, applyManifests } from '../../../../lib/clients/kube/apply.ts';
import type { ApplyAttempt } from '../../../../lib/clients/kube/apply-one.ts';
import type { KubeClient } from '../../../../lib/clients/kube/client.ts';
import { decodeManifests } from '../../../../lib/clients/kube/manifest-decoding.ts';
import { type Reply, refusal, startFakeApi } from './fake-api.ts';

const CORE = [
  { name: 'configmaps', kind: 'ConfigMap', namespaced: true },
  { name: 'nodes', kind: 'Node', namespaced: false },
  { name: 'nodes/status', kind: 'Node', namespaced: false },
];
const CONFIG = '/api/v1/namespaces/default/configmaps';
const NODES = '/api/v1/nodes';

/** An API that serves the core group. */
async function startApi(t: Test) {
  const { api, client } = await startFakeApi(t);
  api.rule(({ path }) =>
    path === '/api/v1' ? { code: 200, body: { resources: CORE } } : undefined,
  );
  return { api, client };
}

function apply(client: KubeClient, text: string, change: Partial<ApplyOptions> = {}) {
  const { manifests } = decodeManifests('a.yaml', text);
  const options = {
    concurrency: 1,
    deadlineMs: 60_000,
    signal: AbortSignal.timeout(120_000),
    report: () => {},
    longestPauses: { unservedMs: 50, refusedMs: 50 },
  };
  return applyManifests(client, { manifests, faults: [] }, { ...options, ...change });
}

t.test('a field that the API does not know is refused, or said', async (t) => {
  const { api, client } = await startApi(t);
  const asked: (string | undefined)[] = [];
  api.rule(({ method, path, query, body }) => {
    if (method !== 'POST' || path !== CONFIG) return undefined;
    asked.push(query.fieldValidation);
    return query.fieldValidation === 'Strict'
      ? refusal(400, { message: 'strict decoding error: unknown field "dta"' })
      : { code: 201, body, headers: { warning: '299 - "unknown field \\"dta\\""' } };
  });
  const text = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndta: {b: c}\n';
  t.match(await apply(client, text), [
    { outcome: 'rejected', reason: /^POST \/\S+: 400 strict decoding error: unknown field "dta"$/ },
  ]);
  const attempts: ApplyAttempt[] = [];
  const rows = await apply(client, text, {
    fieldValidation: () => 'Warn',
    attempted: async (_, attempt) => void attempts.push(attempt),
  });
  t.match(rows, [{ outcome: 'created', warnings: ['unknown field "dta"'] }]);
  t.same(attempts, [{ kind: 'created', warnings: ['unknown field "dta"'] }]);
  t.same(asked, ['Strict', 'Warn']);
});

t.test('warnings about a status, and of an attempt that is repeated, are kept', async (t) => {
  const { api, client } = await startApi(t);
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'edge' } };
  const answers: Record<string, Reply[]> = {
    [`POST ${NODES}`]: [
      { code: 201, body: node, headers: { warning: '299 - "first"' } },
      refusal(409, { reason: 'AlreadyExists', message: 'it exists' }),
    ],
    [`GET ${NODES}/edge`]: [{ code: 200, body: node }],
    [`PUT ${NODES}/edge/status`]: [
      refusal(503, { message: 'wait' }),
      { code: 200, body: node, headers: { warning: '299 - "second"' } },
    ],
  };
  api.rule(({ method, path }) => answers[`${method} ${path}`]?.shift());
  const text = `${JSON.stringify({ ...node, status: { phase: 'Running' } })}\n`;
  t.match(await apply(client, text), [{ outcome: 'existing', warnings: ['first', 'second'] }]);
  const written = api.requests.filter(({ method }) => method === 'PUT');
  t.same(
    written.map(({ query }) => query.fieldValidation),
    ['Warn', 'Warn'],
    'the object exists: what is wrong with its status ends nothing',
  );
});
