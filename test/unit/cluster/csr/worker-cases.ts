import { x509 } from '../../../../lib/pki/x509.ts';
import { craftedPem } from './crafted-request.ts';
import { hostileEncodings } from './hostile-encodings.ts';
import { now } from './requests.ts';
import {
  CONTROL_PLANE,
  dns,
  first,
  GROUPS,
  ip,
  type Row,
  registered,
  serving,
  subjectOf,
  TOKEN,
  WORKER,
} from './worker-requests.ts';

const firstRows: (Row & { rule: string })[] = [
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
  { rule: 'extensions', title: 'a DNS name', request: first({ names: [dns(WORKER)] }) },
  { rule: 'extensions', title: 'an address', request: first({ names: [ip('192.0.2.20')] }) },
  {
    rule: 'extensions',
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
  ...hostileEncodings(WORKER, '192.0.2.20')
    .filter(({ rule }) => !['names', 'extensions'].includes(rule))
    // One whose subject names a second node, or none, is not of this worker.
    .filter(({ title }) => !/name that is no node|second name|two-byte/.test(title))
    .map(({ title, rule, parts, pem = (right) => right }) => ({
      rule,
      title: `encoding: ${title}`,
      request: first({
        pem: () => pem(craftedPem(WORKER, '192.0.2.20', { names: null, ...parts })),
      }),
    })),
];

/** Requests for a first client certificate that are not one of an allowed worker. */
export const leftFirst = firstRows.map((row) => ({ request: first(), ...row }));

const servingRows: (Row & { rule: string })[] = [
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
    rule: 'names',
    title: 'a second name',
    request: serving({ names: [dns(WORKER), dns('api-int.c.example.com'), ip('192.0.2.20')] }),
  },
  {
    rule: 'names',
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
    rule: 'names',
    title: 'an address of the entry that the Node has not',
    request: serving({ names: [dns(WORKER), ip('192.0.2.20'), ip('2001:db8::20')] }),
  },
  {
    rule: 'names',
    title: 'an address of the Node that the entry has not',
    nodes: [{ name: WORKER, internalIps: ['192.0.2.20', '192.0.2.10'] }],
    request: serving({ names: [dns(WORKER), ip('192.0.2.20'), ip('192.0.2.10')] }),
  },
  { rule: 'names', title: 'no address', request: serving({ names: [dns(WORKER)] }) },
  {
    rule: 'usages',
    title: 'a client',
    request: serving({ spec: { usages: ['digital signature', 'client auth'] } }),
  },
  {
    rule: 'names',
    title: 'a URL',
    request: serving({
      names: [dns(WORKER), ip('192.0.2.20'), { type: 'url', value: 'https://x' }],
    }),
  },
  { rule: 'key', title: 'a weak key', request: serving({ key: 'Ed25519' }) },
  {
    rule: 'credential',
    title: 'the node, impersonated',
    request: serving({ spec: { extra: undefined } }),
  },
  {
    rule: 'credential',
    title: 'a token of a service account',
    request: serving({
      spec: { extra: { 'authentication.kubernetes.io/credential-id': ['JTI=0a1b2c3d'] } },
    }),
  },
  { rule: 'age', title: 'yesterday', request: serving({ created: '2029-12-31T00:00:00Z' }) },
  {
    rule: 'worker',
    title: 'the control plane, which an entry names, too',
    worker: { name: CONTROL_PLANE, addresses: ['192.0.2.10'] },
    nodes: [{ name: CONTROL_PLANE, internalIps: ['192.0.2.10'] }],
    request: serving({
      subject: subjectOf(CONTROL_PLANE),
      names: [dns(CONTROL_PLANE), ip('192.0.2.10')],
      spec: { username: `system:node:${CONTROL_PLANE}` },
    }),
  },
  {
    rule: 'node-exists',
    title: 'of a Node that was deleted and registered again',
    worker: { nodeUid: 'that of the Node which joined' },
    nodes: [{ ...registered, uid: 'another' }],
  },
  {
    rule: 'node-exists',
    title: 'of a Node that was deleted',
    worker: { nodeUid: 'that of the Node which joined' },
    nodes: [],
  },
  {
    rule: 'lifetime',
    title: 'ten years',
    request: serving({ spec: { expirationSeconds: 315_360_000 } }),
  },
  {
    rule: 'pending',
    title: 'denied already',
    request: serving({ status: { conditions: [{ type: 'Denied', status: 'True' }] } }),
  },
  {
    rule: 'node-addresses',
    title: 'no address, as its Node has none of its entry',
    nodes: [{ name: WORKER, internalIps: ['192.0.2.10'] }],
    request: serving({ names: [dns(WORKER)] }),
  },
  ...hostileEncodings(WORKER, '192.0.2.20').map(
    ({ title, rule, parts, pem = (right) => right }) => ({
      rule,
      title: `encoding: ${title}`,
      request: serving({ pem: () => pem(craftedPem(WORKER, '192.0.2.20', parts)) }),
    }),
  ),
];

/** Requests for a serving certificate that are not one of an allowed worker. */
export const leftServing = servingRows.map((row) => ({
  request: serving(),
  nodes: [registered],
  ...row,
}));
