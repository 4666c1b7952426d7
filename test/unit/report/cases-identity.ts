import { Failure } from '../../../lib/base/errors/failure.ts';
import { AIO, COMPLETE, installed, json, M, type RuleCase, step } from './rule-case.ts';

const CHANGED = new Failure('fatal', "the reboot changed the host's IPv4 address", {
  code: 'identity-changed',
  expected: '192.168.126.10',
  found: '192.168.126.77',
  fix: 'Give the host 192.168.126.10 back (DHCP reservation, DNS or configuration).',
});
const MOVED = new Failure('fatal', 'the address of this host has moved', {
  code: 'address-moved',
  expected: '192.168.126.10',
  found: '192.168.126.77',
  fix: 'Run "sno-identity change --address 192.168.126.77".',
});
const node = (address: string) =>
  json({
    items: [
      { metadata: { name: 'sno' }, status: { addresses: [{ type: 'InternalIP', address }] } },
    ],
  });
const addresses = json([
  { ifname: 'eth0', addr_info: [{ local: '192.168.126.77', scope: 'global' }] },
]);

export const identityCases: readonly RuleCase[] = [
  {
    rule: 'node-ip-changed',
    of: "the agents' refusal",
    files: installed('sno-restore', step('15:00:00', 'check-identity', 'failed', CHANGED)),
    finds: [
      {
        severity: 'failing',
        title: /expected 192.168.126.10; found 192.168.126.77$/,
        todo: /^Give the host 192.168.126.10 back/,
      },
    ],
  },
  {
    rule: 'node-ip-changed',
    of: 'the refusal of aiokube, without a fix',
    files: {
      ...AIO,
      ...installed(
        'aiokube',
        step(
          '15:00:00',
          'host-identity',
          'failed',
          new Failure('fatal', "the host's name has changed", { code: 'identity-changed' }),
        ),
      ),
    },
    finds: [
      {
        severity: 'failing',
        title: /the host's name has changed$/,
        todo: /^Restore the old name and address .*, then run "systemctl start aiokube"\.$/,
      },
    ],
  },
  {
    rule: 'node-ip-changed',
    of: 'an address that has moved and is not followed, said once',
    files: {
      ...COMPLETE,
      ...installed('sno-address', step('15:00:00', 'follow', 'failed', MOVED)),
      'resources/nodes.json': node('192.168.126.10'),
      [`${M}/network/ip-addr.json`]: addresses,
    },
    finds: [
      {
        severity: 'failing',
        title:
          /^The host is not where its Node is: .*expected 192.168.126.10; found 192.168.126.77$/,
        todo: /sno-identity change --address 192\.168\.126\.77/,
      },
    ],
  },
  {
    rule: 'node-ip-changed',
    of: 'an address of the node that no interface has, after the installation',
    files: {
      ...COMPLETE,
      'resources/nodes.json': node('192.168.126.10'),
      [`${M}/network/ip-addr.json`]: addresses,
    },
    finds: [
      {
        severity: 'failing',
        title: /Node sno has 192.168.126.10, which no interface/,
        todo: /, then run "systemctl restart kubelet"\.$/,
        at: 'resources/nodes.json:5',
      },
    ],
  },
  {
    rule: 'node-ip-changed',
    of: "an address of the kubelet's configuration, while the API of an all-in-one host does not answer",
    files: {
      ...AIO,
      [`${M}/kubelet/environment.txt`]: 'KUBELET_NODE_IPS=192.168.126.10,192.168.126.77\n',
      [`${M}/network/ip-addr.json`]: addresses,
    },
    finds: [
      {
        severity: 'failing',
        title: /^The kubelet's configuration has 192\.168\.126\.10, which no interface/,
        todo: /^Restore 192\.168\.126\.10 on the host .*"systemctl start aiokube"\.$/,
        at: `${M}/kubelet/environment.txt:1`,
      },
    ],
  },
  {
    rule: 'node-ip-changed',
    of: 'a kubelet with the address of the host, and one without any',
    files: {
      [`${M}/kubelet/environment.txt`]: 'KUBELET_NODE_IPS=192.168.126.77\n',
      'kubelet/environment.txt': 'OTHER=1\n',
      [`${M}/network/ip-addr.json`]: addresses,
    },
  },
  {
    rule: 'node-ip-changed',
    of: 'the address that it always had',
    files: {
      'resources/nodes.json': node('192.168.126.77'),
      [`${M}/network/ip-addr.json`]: addresses,
    },
  },
];
