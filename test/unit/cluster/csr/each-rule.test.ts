import t from 'tap';
import type { CsrRequest, Rules } from '../../../../lib/cluster/csr/checks.ts';
import { judge, ownRules } from '../../../../lib/cluster/csr/judge.ts';
import { firstRules, judgeWorker, servingRules } from '../../../../lib/cluster/csr/judge-worker.ts';
import { craftedPem } from './crafted-request.ts';
import { hostileEncodings } from './hostile-encodings.ts';
import { left, type Row } from './judge-cases.ts';
import { leftFamilies } from './judge-families.ts';
import { host, node, now, signingRequest } from './requests.ts';
import { leftFirst, leftServing } from './worker-cases.ts';
import { viewOf } from './worker-requests.ts';

/** The same rules without one of them. */
function without<T extends CsrRequest>({ outer, inner }: Rules<T>, left: string): Rules<T> {
  return {
    outer: outer.filter(([rule]) => rule !== left),
    inner: inner.filter(([rule]) => rule !== left),
  };
}
/** The same PKCS#10 requests, of the own node and of a worker. */
const leftEncodings: Row[] = hostileEncodings(host.nodeName, '192.0.2.10').map(
  ({ title, parts, pem = (right) => right }) => ({
    title,
    request: { pem: () => pem(craftedPem(host.nodeName, '192.0.2.10', parts)) },
  }),
);
const namesOf = <T extends CsrRequest>({ outer, inner }: Rules<T>) => [
  ...outer.map(([rule]) => rule),
  ...inner.map(([rule]) => rule),
];

t.test('without any rule for the own node, a request would be approved', async (t) => {
  const cases = await Promise.all(
    [...left, ...leftFamilies, ...leftEncodings].map(async (row) => ({
      row,
      csr: await signingRequest(row.request),
      view: {
        host: { ...host, ...row.host },
        node: row.node === null ? undefined : (row.node ?? node),
      },
    })),
  );
  for (const name of namesOf(ownRules)) {
    const rules = without(ownRules, name);
    const through = cases.filter(
      ({ csr, view }) => judge(csr, view, now, rules).verdict === 'approve',
    );
    t.ok(through.length > 0, `${name}: ${through.map(({ row }) => row.title).join('; ')}`);
  }
});

t.test('without any rule for workers, a request would be approved', async (t) => {
  const tables = [
    ['first', firstRules, leftFirst],
    ['serving', servingRules, leftServing],
  ] as const;
  for (const [kind, rules, rows] of tables) {
    const cases = await Promise.all(
      rows.map(async (row) => ({ row, csr: await signingRequest(row.request) })),
    );
    for (const name of namesOf(rules)) {
      const table = { first: firstRules, serving: servingRules, [kind]: without(rules, name) };
      const through = cases.filter(
        ({ csr, row }) => judgeWorker(csr, viewOf(row), now, table).verdict === 'approve',
      );
      t.ok(
        through.length > 0,
        `${kind} ${name}: ${through.map(({ row }) => row.title).join('; ')}`,
      );
    }
  }
});
