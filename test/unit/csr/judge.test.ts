import t from 'tap';
import { judge } from '../../../lib/csr/judge.ts';
import { approved } from './judge-approved.ts';
import { left, type Row } from './judge-cases.ts';
import { approvedFamilies, leftFamilies } from './judge-families.ts';
import { host, node, now, signingRequest } from './requests.ts';

t.test('a request that is the node’s own is approved', async (t) => {
  for (const row of [...approved, ...approvedFamilies]) {
    t.same(await verdict(row), { verdict: 'approve' }, row.title);
  }
});

t.test('every other request is left with the rule that it breaks', async (t) => {
  for (const row of [...left, ...leftFamilies]) {
    const judgement = await verdict(row);
    t.match(judgement, { verdict: 'leave', rule: row.rule }, row.title);
    t.ok('explanation' in judgement && judgement.explanation !== '', `${row.title}: is explained`);
  }
});

async function verdict(row: Row) {
  const ownNode = row.node === null ? undefined : (row.node ?? node);
  return judge(await signingRequest(row.request), { ...host, ...row.host }, ownNode, now);
}
