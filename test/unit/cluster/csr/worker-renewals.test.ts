import t from 'tap';
import { judgeRenewal } from '../../../../lib/cluster/csr/judge-worker.ts';
import { now, signingRequest } from './requests.ts';
import { leftFirst, leftServing } from './worker-cases.ts';
import { first, type Row, registered, serving, viewOf, WORKER } from './worker-requests.ts';

const NODE_UID = 'that of the Node which joined';

/** The judgement where the worker of the row has joined instead of being on the list. */
async function judgement(row: Row) {
  const view = viewOf({
    ...row,
    worker: { nodeUid: NODE_UID, ...row.worker },
    nodes: (row.nodes ?? []).map((node) => ({ uid: NODE_UID, ...node })),
  });
  const allowed = view.allowed.map((worker) => ({ nodeUid: NODE_UID, ...worker }));
  return judgeRenewal(await signingRequest(row.request), { ...view, allowed }, now);
}

t.test('a worker that has joined gets its next serving certificate', async (t) => {
  const row = { title: 'right', request: serving(), nodes: [registered] };
  t.same(await judgement(row), { verdict: 'approve' });
});

t.test('what an entry does not allow, a joined worker does not get either', async (t) => {
  for (const row of leftServing) {
    const found = await judgement(row);
    const isWithoutNode = (row.nodes ?? []).length === 0 || row.nodes?.[0]?.name !== WORKER;
    const rule = isWithoutNode && row.rule === 'node-addresses' ? 'node-exists' : row.rule;
    t.match(found, { verdict: 'leave', rule }, row.title);
  }
});

t.test('it allows no first certificate: not the right one either, and to no token', async (t) => {
  for (const row of [{ title: 'right', request: first() }, ...leftFirst]) {
    t.match(await judgement(row), { verdict: 'leave' }, row.title);
  }
  t.match(await judgement({ title: 'right', request: first() }), { rule: 'signer' });
});
