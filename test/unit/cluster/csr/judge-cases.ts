import type { CsrRule } from '../../../../lib/cluster/csr/checks.ts';
import type { HostView, NodeView } from '../../../../lib/cluster/csr/views.ts';
import { x509 } from '../../../../lib/pki/x509.ts';
import { twoValues, withForeignSignature, withUnknownSignature } from './damaged-requests.ts';
import { credential, type Variation } from './requests.ts';

export interface Row {
  readonly title: string;
  readonly request?: Variation;
  readonly host?: Partial<HostView>;
  readonly node?: NodeView | null;
}

const dns = (value: string) => ({ type: 'dns' as const, value });
const ip = (value: string) => ({ type: 'ip' as const, value });
const ownName = dns('sno.example.com');
const ownAddress = ip('192.0.2.10');
const subject = (...parts: [string, string][]) =>
  parts.map(([type, value]) => ({ [type]: [value] }));
const group: [string, string] = ['O', 'system:nodes'];
const self: [string, string] = ['CN', 'system:node:sno.example.com'];

export const left: (Row & { rule: CsrRule })[] = [
  {
    rule: 'pending',
    title: 'approved already',
    request: { status: { conditions: [{ type: 'Approved', status: 'True' }] } },
  },
  {
    rule: 'pending',
    title: 'denied already',
    request: { status: { conditions: [{ type: 'Denied', status: 'True' }] } },
  },
  { rule: 'pending', title: 'issued already', request: { status: { certificate: 'YQ==' } } },
  {
    rule: 'signer',
    title: "a first client certificate of this node's name, by a bootstrapper",
    request: {
      names: [],
      spec: {
        signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
        username: 'system:bootstrap:abcdef',
        groups: ['system:bootstrappers', 'system:authenticated'],
        usages: ['digital signature', 'client auth'],
      },
    },
  },
  {
    rule: 'signer',
    title: 'a client certificate renewed by the node itself',
    request: { spec: { signerName: 'kubernetes.io/kube-apiserver-client-kubelet' } },
  },
  {
    rule: 'signer',
    title: 'any client certificate',
    request: { spec: { signerName: 'kubernetes.io/kube-apiserver-client' } },
  },
  {
    rule: 'signer',
    title: "somebody else's signer",
    request: { spec: { signerName: 'example.com/kubelet-serving' } },
  },
  {
    rule: 'requestor',
    title: 'a bootstrapper asks for a serving certificate',
    request: {
      spec: {
        username: 'system:bootstrap:abcdef',
        groups: ['system:bootstrappers', 'system:authenticated'],
      },
    },
  },
  {
    rule: 'requestor',
    title: 'another node asks',
    request: { spec: { username: 'system:node:worker-0' } },
  },
  {
    rule: 'requestor',
    title: 'a node whose name begins with ours asks',
    request: { spec: { username: 'system:node:sno.example.com.evil.org' } },
  },
  {
    rule: 'requestor',
    title: 'an administrator asks in the name of the node',
    request: {
      spec: { username: 'system:admin', groups: ['system:masters', 'system:authenticated'] },
    },
  },
  { rule: 'requestor', title: 'nobody asks', request: { spec: { username: '' } } },
  {
    rule: 'groups',
    title: 'one more group',
    request: { spec: { groups: ['system:nodes', 'system:authenticated', 'system:masters'] } },
  },
  {
    rule: 'groups',
    title: 'a group less',
    request: { spec: { groups: ['system:authenticated'] } },
  },
  {
    rule: 'groups',
    title: 'the same group twice',
    request: { spec: { groups: ['system:nodes', 'system:nodes'] } },
  },
  {
    rule: 'age',
    title: 'a second more than an hour',
    request: { created: '2029-12-31T23:09:59Z' },
  },
  { rule: 'age', title: 'two hours old', request: { created: '2029-12-31T22:10:00Z' } },
  { rule: 'age', title: 'of unknown age', request: { created: null } },
  {
    rule: 'lifetime',
    title: 'a second more than a year',
    request: { spec: { expirationSeconds: 365 * 86_400 + 1 } },
  },
  {
    rule: 'credential',
    title: 'the node, impersonated',
    request: { spec: { extra: undefined } },
  },
  {
    rule: 'credential',
    title: 'the node, with an earlier certificate',
    request: { spec: { extra: credential('cd'.repeat(32)) } },
  },
  {
    rule: 'credential',
    title: 'two credentials',
    request: {
      spec: {
        extra: {
          'authentication.kubernetes.io/credential-id': [
            `X509SHA256=${'ab'.repeat(32)}`,
            'JTI=0a1b2c3d',
          ],
        },
      },
    },
  },
  {
    rule: 'credential',
    title: 'a host whose kubelet has no certificate',
    host: { clientCertificate: undefined },
  },
  { rule: 'request', title: 'no PEM', request: { pem: () => 'hello' } },
  {
    rule: 'request',
    title: 'a PEM of something else',
    request: { pem: (pem) => pem.replaceAll('CERTIFICATE REQUEST', 'CERTIFICATE') },
  },
  {
    rule: 'request',
    title: 'cut off',
    request: { pem: (pem) => pem.replace(/\n[^\n]+\n-----END/, '\n-----END') },
  },
  {
    rule: 'signature',
    title: 'the signature of another request',
    request: { pem: withForeignSignature },
  },
  { rule: 'key', title: 'a weak RSA key', request: { key: 'RSA-1024' } },
  { rule: 'key', title: 'an RSA key that is a little short', request: { key: 'RSA-1536' } },
  { rule: 'key', title: 'an Ed25519 key', request: { key: 'Ed25519' } },
  {
    rule: 'subject',
    title: 'the common name of another node',
    request: { subject: subject(group, ['CN', 'system:node:worker-0']) },
  },
  { rule: 'subject', title: 'no organization', request: { subject: subject(self) } },
  {
    rule: 'subject',
    title: 'the organization of administrators',
    request: { subject: subject(['O', 'system:masters'], self) },
  },
  {
    rule: 'subject',
    title: 'one more organization',
    request: { subject: subject(group, ['O', 'system:masters'], self) },
  },
  {
    rule: 'subject',
    title: 'a zero byte after the name',
    request: { subject: subject(group, ['CN', 'system:node:sno.example.com\0.evil.org']) },
  },
  {
    rule: 'extensions',
    title: 'the right to sign others',
    request: { extraExtensions: [new x509.BasicConstraintsExtension(true, 3, true)] },
  },
  {
    rule: 'extensions',
    title: 'a challenge password',
    request: { extraAttributes: [new x509.ChallengePasswordAttribute('secret')] },
  },
  {
    rule: 'extensions',
    title: 'an attribute of extensions with two values',
    request: { names: [], extraAttributes: [twoValues()] },
  },
  {
    rule: 'extensions',
    title: 'a second set of extensions',
    request: {
      extraAttributes: [
        new x509.ExtensionsAttribute([new x509.SubjectAlternativeNameExtension([dns('evil.org')])]),
      ],
    },
  },
  {
    rule: 'usages',
    title: 'client authentication too',
    request: { spec: { usages: ['digital signature', 'server auth', 'client auth'] } },
  },
  { rule: 'usages', title: 'any use', request: { spec: { usages: ['any'] } } },
  { rule: 'usages', title: 'no use', request: { spec: { usages: [] } } },
  {
    rule: 'usages',
    title: 'key encipherment twice for an RSA key',
    request: {
      key: 'RSA-2048',
      spec: {
        usages: ['digital signature', 'key encipherment', 'key encipherment', 'server auth'],
      },
    },
  },
  {
    rule: 'usages',
    title: 'client authentication for an RSA key',
    request: {
      key: 'RSA-2048',
      spec: { usages: ['digital signature', 'key encipherment', 'client auth'] },
    },
  },
  {
    rule: 'usages',
    title: 'key encipherment for an ECDSA key',
    request: { spec: { usages: ['digital signature', 'server auth', 'key encipherment'] } },
  },
  { rule: 'names', title: 'no name', request: { names: [ownAddress] } },
  { rule: 'names', title: 'no alternative names at all', request: { names: [] } },
  {
    rule: 'names',
    title: 'a final dot',
    request: { names: [dns('sno.example.com.'), ownAddress] },
  },
  { rule: 'names', title: 'no address', request: { names: [ownName] } },
  {
    rule: 'names',
    title: 'another address of the interface, which the node does not have',
    request: { names: [ownName, ownAddress, ip('192.0.2.77')] },
  },
  {
    rule: 'names',
    title: "an address of the node that is not the host's",
    request: { names: [ownName, ownAddress, ip('198.51.100.1')] },
    node: { name: 'sno.example.com', internalIps: ['192.0.2.10', '198.51.100.1'] },
  },
  {
    rule: 'names',
    title: 'the address written as IPv6',
    request: { names: [ownName, ip('::ffff:192.0.2.10')] },
  },
  { rule: 'node-addresses', title: 'a node that is not registered', node: null },
  {
    rule: 'node-addresses',
    title: 'a node that has an address elsewhere',
    node: { name: 'sno.example.com', internalIps: ['198.51.100.1'] },
    request: { names: [ownName, ip('198.51.100.1')] },
  },
  {
    rule: 'node-addresses',
    title: 'only the name, of a node that has an address elsewhere',
    node: { name: 'sno.example.com', internalIps: ['198.51.100.1'] },
    request: { names: [ownName] },
  },
  {
    rule: 'node-addresses',
    title: "another node's addresses",
    node: { name: 'worker-0', internalIps: ['192.0.2.10'] },
  },
  {
    rule: 'node-addresses',
    title: 'a host that lost its address',
    host: { nodeIps: [] },
  },
  {
    rule: 'host-name',
    title: 'a host called localhost',
    host: { nodeName: 'localhost', staticHostName: 'localhost' },
    request: { spec: { username: 'system:node:localhost' } },
  },
  {
    rule: 'host-name',
    title: 'a host whose running name is still localhost.localdomain',
    host: { nodeName: 'localhost.localdomain' },
    request: { spec: { username: 'system:node:localhost.localdomain' } },
  },
  {
    rule: 'host-name',
    title: 'a host that was renamed since its node was named',
    host: { staticHostName: 'edge.example.com' },
  },
  {
    rule: 'host-name',
    title: 'a host without any name',
    host: { nodeName: '', staticHostName: '' },
    request: { spec: { username: 'system:node:' } },
  },
  { rule: 'host-name', title: 'a host without a static name', host: { staticHostName: '' } },
  {
    rule: 'host-name',
    title: 'a host whose running name is another',
    host: { nodeName: 'edge.example.com' },
    request: { spec: { username: 'system:node:edge.example.com' } },
  },
  {
    rule: 'signature',
    title: 'a signature that cannot be verified at all',
    request: { pem: withUnknownSignature },
  },
];
