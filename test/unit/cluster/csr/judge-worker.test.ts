import t from 'tap';
import { isDecidedElsewhere } from '../../../../lib/cluster/csr/judge-worker.ts';
import { signingRequestOf } from '../../../../lib/cluster/csr/signing-request.ts';
import { now, requestObject, type Variation } from './requests.ts';
import { leftFirst } from './worker-cases.ts';
import {
  CLIENT,
  CONTROL_PLANE,
  fingerprintOf,
  first,
  type Row,
  registered,
  serving,
  verdict,
  WORKER,
} from './worker-requests.ts';

t.test('the first certificate of an allowed worker is approved', async (t) => {
  const keySha256 = await fingerprintOf(first());
  const rows: Row[] = [
    { title: 'with a bootstrap token' },
    {
      title: 'with an RSA key and its usage',
      request: first({
        key: 'RSA-2048',
        spec: { usages: ['key encipherment', 'digital signature', 'client auth'] },
      }),
    },
    { title: 'with the key that the entry names', worker: { keySha256 } },
    {
      title: 'for a Node that exists, since the entry names the key',
      worker: { keySha256 },
      nodes: [registered],
    },
    { title: 'beside other Nodes', nodes: [{ name: CONTROL_PLANE, internalIps: ['192.0.2.10'] }] },
  ];
  for (const row of rows) {
    t.same(await verdict({ request: first(), ...row }), { verdict: 'approve' }, row.title);
  }
});

t.test('every other request for a first certificate is left pending', async (t) => {
  for (const row of leftFirst) {
    const judgement = await verdict(row);
    t.match(judgement, { verdict: 'leave', rule: row.rule }, row.title);
    t.ok('explanation' in judgement && judgement.explanation !== '', `${row.title}: is explained`);
  }
});

t.test('the explanation names what was found', async (t) => {
  const explained = async (row: Row) => await verdict({ request: first(), ...row });
  t.match(await explained({ title: '', worker: { keySha256: '0'.repeat(64) } }), {
    explanation: /the key sha256:0{64}; found sha256:[0-9a-f]{64}$/,
  });
  t.match(await explained({ title: '', worker: { expires: now } }), {
    explanation: `the entry of ${WORKER} expired at ${now.toISOString()}`,
  });
  t.match(await explained({ title: '', nodes: [registered] }), { explanation: /Delete the Node/ });
});

t.test('requests of others are not decided by the list', async (t) => {
  const elsewhere = async (variation: Variation) => {
    const { signerName, username } = signingRequestOf(await requestObject(variation));
    return isDecidedElsewhere({ signerName, username }, CONTROL_PLANE);
  };
  t.equal(await elsewhere({}), true, "the control plane's own serving certificate");
  t.equal(
    await elsewhere({ spec: { signerName: CLIENT, username: `system:node:${WORKER}` } }),
    true,
    'a renewal, which the controller-manager approves',
  );
  t.equal(await elsewhere(first()), false);
  t.equal(await elsewhere(serving()), false);
});
