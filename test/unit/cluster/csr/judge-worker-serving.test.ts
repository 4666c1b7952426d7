import t from 'tap';
import { leftServing } from './worker-cases.ts';
import { dns, ip, type Row, registered, serving, verdict, WORKER } from './worker-requests.ts';

t.test('the serving certificate of an allowed worker is approved', async (t) => {
  const both = { name: WORKER, internalIps: ['192.0.2.20', '2001:db8::20'] };
  const rows: Row[] = [
    { title: 'for its name and address', nodes: [registered] },
    {
      title: 'for both families',
      nodes: [both],
      request: serving({ names: [dns(WORKER), ip('192.0.2.20'), ip('2001:db8::20')] }),
    },
    {
      title: 'also if its key has no fingerprint to match',
      worker: { keySha256: '0'.repeat(64) },
      nodes: [registered],
    },
  ];
  for (const row of rows) {
    t.same(await verdict({ request: serving(), ...row }), { verdict: 'approve' }, row.title);
  }
});

t.test('every other request for a serving certificate is left pending', async (t) => {
  for (const row of leftServing) {
    const judgement = await verdict(row);
    t.match(judgement, { verdict: 'leave', rule: row.rule }, row.title);
  }
});
