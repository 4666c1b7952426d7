import { craftedPem, type Parts } from '../../unit/cluster/csr/crafted-request.ts';
import {
  type HostileEncoding,
  hostileEncodings,
} from '../../unit/cluster/csr/hostile-encodings.ts';
import { host } from '../../unit/cluster/csr/requests.ts';
import type { Sender, Submission } from './world.ts';

export const OWN = host.nodeName;
export const ADDRESS = '192.0.2.10';
const SERVING = ['digital signature', 'server auth'];

/** A request that the approver must leave, by this rule. */
export interface HostileCase extends Submission {
  readonly title: string;
  readonly rule: string;
  readonly by: Sender;
}

/** What the kubelet of this host sends for its serving certificate. */
export const honest = (parts: Parts = {}): Submission => ({
  pem: craftedPem(OWN, ADDRESS, parts),
  signerName: 'kubernetes.io/kubelet-serving',
  usages: SERVING,
});

const encoding = ({
  title,
  rule,
  parts,
  pem = (right) => right,
}: HostileEncoding): HostileCase => ({
  ...honest(),
  pem: pem(craftedPem(OWN, ADDRESS, parts)),
  title,
  rule,
  by: { kind: 'kubelet' },
});

const user = `system:node:${OWN}`;
const nodes = 'system:nodes';
const by = (title: string, rule: string, sender: Sender): HostileCase => ({
  ...honest(),
  title,
  rule,
  by: sender,
});
const own = (title: string, rule: string, changed: Partial<Submission>): HostileCase => ({
  ...honest(),
  ...changed,
  title,
  rule,
  by: { kind: 'kubelet' },
});
const client = { signerName: 'kubernetes.io/kube-apiserver-client-kubelet' };

export const hostileCases: readonly HostileCase[] = [
  ...hostileEncodings(OWN, ADDRESS).map(encoding),
  by('an administrator', 'requestor', { kind: 'admin' }),
  by('a bootstrap token', 'requestor', { kind: 'token' }),
  by('a user among the nodes', 'requestor', {
    kind: 'impersonated',
    user: 'joe',
    groups: [nodes],
    credential: 'right',
  }),
  by('a service account among the nodes', 'requestor', {
    kind: 'impersonated',
    user: 'system:serviceaccount:kube-system:default',
    groups: [nodes],
    credential: 'right',
  }),
  {
    ...by('another node for itself', 'requestor', { kind: 'other-node' }),
    pem: craftedPem('worker-0', ADDRESS),
  },
  by('the node and administrator', 'groups', {
    kind: 'impersonated',
    user,
    groups: [nodes, 'system:masters'],
    credential: 'right',
  }),
  by('the user of the node without its group', 'groups', {
    kind: 'impersonated',
    user,
    groups: [],
    credential: 'right',
  }),
  by('the node, impersonated', 'credential', { kind: 'impersonated', user, groups: [nodes] }),
  by('the node, impersonated with another credential', 'credential', {
    kind: 'impersonated',
    user,
    groups: [nodes],
    credential: 'other',
  }),
  by('a stolen earlier certificate of the node', 'credential', { kind: 'old-kubelet' }),
  own('a client certificate of this node, with names', 'signer', client),
  own('a client certificate of this node', 'signer', {
    ...client,
    pem: craftedPem(OWN, ADDRESS, { names: null }),
    usages: ['digital signature', 'client auth'],
  }),
  own('a signer of somebody else', 'signer', { signerName: 'example.com/kubelet-serving' }),
  own('no signature', 'usages', { usages: ['server auth'] }),
  own('no server', 'usages', { usages: ['digital signature'] }),
  own('a client as well', 'usages', { usages: [...SERVING, 'client auth'] }),
  own('a client instead', 'usages', { usages: ['digital signature', 'client auth'] }),
  own('any use', 'usages', { usages: ['any'] }),
  own('any use as well', 'usages', { usages: [...SERVING, 'any'] }),
  own('signing certificates as well', 'usages', { usages: [...SERVING, 'cert sign'] }),
  own('a use that only RSA keys have', 'usages', { usages: [...SERVING, 'key encipherment'] }),
  own('a day more than a year', 'lifetime', { expirationSeconds: 366 * 86_400 }),
  own('ten years', 'lifetime', { expirationSeconds: 3650 * 86_400 }),
];

/** Encodings that the API server itself refuses: whether it still does is tested, too. */
export const REFUSED_BY_SERVER: readonly string[] = ['a name that is no node'];
