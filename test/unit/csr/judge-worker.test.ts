import t from 'tap';
import { isDecidedElsewhere } from '../../../lib/csr/judge-worker.ts';
import { readSigningRequest } from '../../../lib/csr/signing-request.ts';
import { x509 } from '../../../lib/pki/x509.ts';
import { now, requestObject, type Variation } from './requests.ts';
import {
  CLIENT,
  CONTROL_PLANE,
  dns,
  fingerprintOf,
  first,
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
  const rows: (Row & { rule: string })[] = [
    {
      rule: 'worker',
      title: 'the name of the control plane',
      request: first({ subject: subjectOf(CONTROL_PLANE) }),
    },
    {
      rule: 'worker',
      title: 'the name of the control plane, which an entry names, too',
      request: first({ subject: subjectOf(CONTROL_PLANE) }),
      worker: { name: CONTROL_PLANE },
    },
    {
      rule: 'worker',
      title: 'a name that is not on the list',
      request: first({ subject: subjectOf('worker-1.example.com') }),
    },
    { rule: 'worker', title: 'no name', request: first({ subject: [{ O: ['system:nodes'] }] }) },
    {
      rule: 'worker',
      title: 'two names',
      request: first({
        subject: [...subjectOf(WORKER), { CN: [`system:node:${CONTROL_PLANE}`] }],
      }),
    },
    {
      rule: 'worker',
      title: 'an administrator instead of a node',
      request: first({ subject: [{ O: ['system:masters'] }, { CN: ['admin'] }] }),
    },
    {
      rule: 'worker',
      title: 'the same name in capitals',
      request: first({ subject: subjectOf(WORKER.toUpperCase()) }),
    },
    {
      rule: 'subject',
      title: 'a second group',
      request: first({
        subject: [
          { O: ['system:nodes'] },
          { O: ['system:masters'] },
          { CN: [`system:node:${WORKER}`] },
        ],
      }),
    },
    {
      rule: 'subject',
      title: 'another group',
      request: first({ subject: [{ O: ['system:masters'] }, { CN: [`system:node:${WORKER}`] }] }),
    },
    {
      rule: 'expiry',
      title: 'at the expiry of the entry',
      worker: { expires: now },
    },
    { rule: 'fingerprint', title: 'another key', worker: { keySha256: '0'.repeat(64) } },
    {
      rule: 'fingerprint',
      title: 'another key for a Node that exists',
      worker: { keySha256: '0'.repeat(64) },
      nodes: [registered],
    },
    { rule: 'node-exists', title: 'the Node of another host', nodes: [registered] },
    {
      rule: 'requestor',
      title: 'another worker with its own certificate',
      request: first({
        spec: {
          username: 'system:node:worker-9',
          groups: ['system:nodes', 'system:authenticated'],
        },
      }),
    },
    { rule: 'requestor', title: 'nobody', request: first({ spec: { username: '' } }) },
    {
      rule: 'requestor',
      title: 'a user whose name begins with that of a token',
      request: first({ spec: { username: `${TOKEN}:x` } }),
    },
    {
      rule: 'requestor',
      title: 'a service account',
      request: first({ spec: { username: 'system:serviceaccount:kube-system:default' } }),
    },
    {
      rule: 'groups',
      title: 'a token for another purpose',
      request: first({
        spec: {
          groups: ['system:bootstrappers', 'system:bootstrappers:other', 'system:authenticated'],
        },
      }),
    },
    {
      rule: 'groups',
      title: 'a token with more groups',
      request: first({ spec: { groups: [...GROUPS, 'system:bootstrappers:other'] } }),
    },
    {
      rule: 'groups',
      title: 'a token without a group',
      request: first({ spec: { groups: ['system:bootstrappers', 'system:authenticated'] } }),
    },
    {
      rule: 'usages',
      title: 'a server',
      request: first({ spec: { usages: ['digital signature', 'server auth'] } }),
    },
    {
      rule: 'usages',
      title: 'a server as well',
      request: first({ spec: { usages: ['digital signature', 'client auth', 'server auth'] } }),
    },
    { rule: 'dns-names', title: 'a DNS name', request: first({ names: [dns(WORKER)] }) },
    { rule: 'ip-addresses', title: 'an address', request: first({ names: [ip('192.0.2.20')] }) },
    {
      rule: 'other-names',
      title: 'an e-mail address',
      request: first({ names: [{ type: 'email', value: 'root@example.com' }] }),
    },
    {
      rule: 'extensions',
      title: 'a certificate authority',
      request: first({ extraExtensions: [new x509.BasicConstraintsExtension(true, 3, true)] }),
    },
    { rule: 'key', title: 'a weak key', request: first({ key: 'RSA-1024' }) },
    {
      rule: 'lifetime',
      title: 'ten years',
      request: first({ spec: { expirationSeconds: 315_360_000 } }),
    },
    { rule: 'age', title: 'yesterday', request: first({ created: '2029-12-31T00:00:00Z' }) },
    {
      rule: 'pending',
      title: 'denied already',
      request: first({ status: { conditions: [{ type: 'Denied', status: 'True' }] } }),
    },
    {
      rule: 'request',
      title: 'no request in it',
      request: first({ pem: () => 'nothing' }),
    },
    {
      rule: 'signer',
      title: 'a client of the API that is no kubelet',
      request: first({ spec: { signerName: 'kubernetes.io/kube-apiserver-client' } }),
    },
  ];
  for (const row of rows) {
    const judgement = await verdict({ request: first(), ...row });
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
    const { signerName, username } = await readSigningRequest(await requestObject(variation));
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
