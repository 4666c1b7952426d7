import type { Row } from './judge-cases.ts';

const dns = (value: string) => ({ type: 'dns' as const, value });
const ip = (value: string) => ({ type: 'ip' as const, value });
const ownName = dns('sno.example.com');
const ownAddress = ip('192.0.2.10');

export const approved: Row[] = [
  { title: "the kubelet's request with an ECDSA key" },
  {
    title: 'an RSA key, with key encipherment',
    request: {
      key: 'RSA-2048',
      spec: { usages: ['key encipherment', 'digital signature', 'server auth'] },
    },
  },
  { title: 'an RSA key, without key encipherment', request: { key: 'RSA-2048' } },
  {
    title: 'groups and usages in another order',
    request: {
      spec: {
        groups: ['system:authenticated', 'system:nodes'],
        usages: ['server auth', 'digital signature'],
      },
    },
  },
  {
    title: 'a subject of UTF-8 strings',
    request: {
      subject: [
        { O: [{ utf8String: 'system:nodes' }] },
        { CN: [{ utf8String: 'system:node:sno.example.com' }] },
      ],
    },
  },
  { title: 'an ECDSA key on P-384', request: { key: 'P-384' } },
  { title: 'an ECDSA key on P-521', request: { key: 'P-521' } },
  { title: 'exactly an hour old', request: { created: '2029-12-31T23:10:00Z' } },
  { title: 'created by a clock ahead', request: { created: '2030-01-01T00:15:00Z' } },
  { title: 'exactly a year long', request: { spec: { expirationSeconds: 365 * 86_400 } } },
  {
    title: 'a host name in capital letters',
    host: { staticHostName: 'SNO.example.com' },
  },
  {
    title: 'an address of the node that is neither the host’s nor asked for',
    node: { name: 'sno.example.com', internalIps: ['192.0.2.10', '198.51.100.1'] },
  },
  { title: 'a short lifetime', request: { spec: { expirationSeconds: 3600 } } },
  {
    title: 'both families when the host has both',
    request: { names: [ownName, ownAddress, ip('2001:DB8:0::10')] },
    host: { nodeIps: ['192.0.2.10', '2001:db8::10'] },
    node: { name: 'sno.example.com', internalIps: ['192.0.2.10', '2001:db8::10'] },
  },
];
