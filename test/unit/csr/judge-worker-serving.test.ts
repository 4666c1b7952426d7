import t from 'tap';
import { now } from './requests.ts';
import {
  CONTROL_PLANE,
  dns,
  GROUPS,
  ip,
  type Row,
  registered,
  serving,
  subjectOf,
  TOKEN,
  verdict,
  WORKER,
} from './worker-requests.ts';

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
  const rows: (Row & { rule: string })[] = [
    {
      rule: 'worker',
      title: 'a node that is not on the list',
      request: serving({ spec: { username: 'system:node:worker-1.example.com' } }),
    },
    {
      rule: 'worker',
      title: 'the control plane',
      request: serving({ spec: { username: `system:node:${CONTROL_PLANE}` } }),
    },
    {
      rule: 'worker',
      title: 'the holder of a token',
      request: serving({ spec: { username: TOKEN, groups: GROUPS } }),
    },
    { rule: 'expiry', title: 'an expired entry', worker: { expires: new Date(now.getTime() - 1) } },
    {
      rule: 'groups',
      title: 'an administrator as well',
      request: serving({
        spec: { groups: ['system:nodes', 'system:masters', 'system:authenticated'] },
      }),
    },
    {
      rule: 'subject',
      title: 'the name of another node',
      request: serving({ subject: subjectOf('worker-9') }),
    },
    {
      rule: 'dns-names',
      title: 'a second name',
      request: serving({ names: [dns(WORKER), dns('api-int.c.example.com'), ip('192.0.2.20')] }),
    },
    {
      rule: 'dns-names',
      title: 'the name of the control plane',
      request: serving({ names: [dns(CONTROL_PLANE), ip('192.0.2.20')] }),
    },
    { rule: 'node-addresses', title: 'no Node', nodes: [] },
    {
      rule: 'node-addresses',
      title: 'a Node with the address of another host',
      nodes: [{ name: WORKER, internalIps: ['192.0.2.10'] }],
      request: serving({ names: [dns(WORKER), ip('192.0.2.10')] }),
    },
    {
      rule: 'ip-addresses',
      title: 'an address of the entry that the Node has not',
      request: serving({ names: [dns(WORKER), ip('192.0.2.20'), ip('2001:db8::20')] }),
    },
    {
      rule: 'ip-addresses',
      title: 'an address of the Node that the entry has not',
      nodes: [{ name: WORKER, internalIps: ['192.0.2.20', '192.0.2.10'] }],
      request: serving({ names: [dns(WORKER), ip('192.0.2.20'), ip('192.0.2.10')] }),
    },
    { rule: 'ip-addresses', title: 'no address', request: serving({ names: [dns(WORKER)] }) },
    {
      rule: 'usages',
      title: 'a client',
      request: serving({ spec: { usages: ['digital signature', 'client auth'] } }),
    },
    {
      rule: 'other-names',
      title: 'a URL',
      request: serving({
        names: [dns(WORKER), ip('192.0.2.20'), { type: 'url', value: 'https://x' }],
      }),
    },
    { rule: 'key', title: 'a weak key', request: serving({ key: 'Ed25519' }) },
    { rule: 'age', title: 'yesterday', request: serving({ created: '2029-12-31T00:00:00Z' }) },
  ];
  for (const row of rows) {
    const judgement = await verdict({ request: serving(), nodes: [registered], ...row });
    t.match(judgement, { verdict: 'leave', rule: row.rule }, row.title);
  }
});
