import t from 'tap';
import { judge } from '../../../../lib/cluster/csr/judge.ts';
import { x509 } from '../../../../lib/pki/x509.ts';
import { twoValues } from './damaged-requests.ts';
import { approved } from './judge-approved.ts';
import { left, type Row } from './judge-cases.ts';
import { approvedFamilies, leftFamilies } from './judge-families.ts';
import { host, node, now, signingRequest, type Variation } from './requests.ts';

t.test('a request that is the node’s own is approved', async (t) => {
  for (const row of [...approved, ...approvedFamilies]) {
    t.same(await verdict(row), { verdict: 'approve' }, row.title);
  }
});

t.test('every other request is left pending, with the rule that it violates', async (t) => {
  for (const row of [...left, ...leftFamilies]) {
    const judgement = await verdict(row);
    t.match(judgement, { verdict: 'leave', rule: row.rule }, row.title);
    t.ok('explanation' in judgement && judgement.explanation !== '', `${row.title}: is explained`);
  }
});

t.test('the explanation states what was found', async (t) => {
  const rows: [Variation, RegExp][] = [
    [
      { extraAttributes: [new x509.ChallengePasswordAttribute('secret')] },
      /found 1\.2\.840\.113549\.1\.9\.7, 2\.5\.29\.17$/,
    ],
    [
      { extraExtensions: [new x509.BasicConstraintsExtension(true, 3, true)] },
      /found 2\.5\.29\.17, 2\.5\.29\.19$/,
    ],
    [{ extraAttributes: [twoValues()], names: [] }, /found 2\.5\.29\.17, 2\.5\.29\.17$/],
    [{ names: [{ type: 'email', value: 'root@example.com' }] }, /found email:root@example\.com$/],
    [{ names: [] }, /expected DNS:sno\.example\.com, IP:192\.0\.2\.10; found none$/],
    [{ key: 'RSA-1536' }, /found RSA 1536$/],
    [{ key: 'Ed25519' }, /found ed25519$/],
    [{ spec: { username: '' } }, /expected system:node:sno\.example\.com; found nobody$/],
    [{ spec: { signerName: 'a/b' } }, /expected kubernetes\.io\/kubelet-serving; found a\/b$/],
    [{ status: { conditions: [{ type: 'Denied', status: 'True' }] } }, /Denied already/],
    [{ status: { certificate: 'YQ==' } }, /Issued already/],
    [{ created: '2029-12-31T22:10:00Z' }, /2029-12-31T22:10:00\.000Z/],
  ];
  for (const [request, says] of rows) {
    t.match(await verdict({ title: '', request }), { explanation: says }, `${says}`);
  }
  const hosts: [Pick<Row, 'host' | 'node'>, RegExp][] = [
    [{ host: { nodeName: '' } }, /no name of its own yet: ''$/],
    [{ host: { staticHostName: 'localhost' } }, /no name of its own yet: 'localhost'$/],
    [
      { host: { staticHostName: 'edge' } },
      /expected sno\.example\.com in \/etc\/hostname; found edge$/,
    ],
    [{ node: null }, /no node sno\.example\.com yet$/],
    [
      { node: { name: 'sno.example.com', internalIps: ['198.51.100.1', '198.51.100.2'] } },
      /\(198\.51\.100\.1, 198\.51\.100\.2\) is one of the host \(192\.0\.2\.10\)$/,
    ],
  ];
  for (const [row, says] of hosts) {
    t.match(await verdict({ title: '', ...row }), { explanation: says }, `${says}`);
  }
});

async function verdict(row: Row) {
  const ownNode = row.node === null ? undefined : (row.node ?? node);
  const view = { host: { ...host, ...row.host }, node: ownNode };
  return judge(await signingRequest(row.request), view, now);
}
