import type { Case } from './install-config-file.ts';

/** Architecture and networks. */
export const networks: readonly Case[] = [
  {
    name: 'another architecture',
    edits: [['replicas: 1', 'replicas: 1\n  architecture: s390x']],
    faults: ['11 controlPlane.architecture'],
    says: /expected amd64 or arm64, found "s390x"/,
  },
  {
    name: 'pools of two architectures',
    edits: [['replicas: 0', 'replicas: 0\n  architecture: arm64']],
    faults: ['8 compute[0].architecture'],
    says: /expected amd64, as for the control plane, found "arm64"/,
  },
  {
    name: 'CIDR in octal notation',
    edits: [['192.168.7.0/24', '0300.0250.7.0/24']],
    faults: ['14 networking.machineNetwork[0].cidr'],
    says: /an IPv4 or IPv6 network in CIDR notation/,
  },
  {
    name: 'CIDR without a length',
    edits: [['192.168.7.0/24', '192.168.7.0']],
    faults: ['14 networking.machineNetwork[0].cidr'],
  },
  {
    name: 'CIDR with a length of 33',
    edits: [['192.168.7.0/24', '192.168.7.0/33']],
    faults: ['14 networking.machineNetwork[0].cidr'],
  },
  {
    name: 'CIDR of a host',
    edits: [['192.168.7.0/24', '192.168.7.5/24']],
    faults: ['14 networking.machineNetwork[0].cidr'],
    says: /Write it as 192\.168\.7\.0\/24/,
  },
  {
    name: 'loopback',
    edits: [['172.30.0.0/16', '127.0.0.0/16']],
    faults: ['19 networking.serviceNetwork[0]'],
    says: /loopback/,
  },
  {
    name: 'everything',
    edits: [['172.30.0.0/16', '0.0.0.0/0']],
    faults: ['19 networking.serviceNetwork[0]'],
  },
  {
    name: 'networks that overlap',
    edits: [['172.30.0.0/16', '10.129.0.0/16']],
    faults: ['19 networking.serviceNetwork[0]'],
    says: /does not overlap networking\.clusterNetwork\[0\]\.cidr \(10\.128\.0\.0\/14\), found 10\.129/,
  },
  {
    name: 'a network that overlaps a default',
    edits: [
      ['192.168.7.0/24', '172.30.5.0/24'],
      ['  serviceNetwork:\n  - 172.30.0.0/16\n', ''],
    ],
    faults: ['14 networking.machineNetwork[0].cidr'],
    says: /172\.30\.0\.0\/16, the default/,
  },
  {
    name: 'two service networks',
    edits: [['- 172.30.0.0/16', '- 172.30.0.0/16\n  - 172.31.0.0/16']],
    faults: ['20 networking.serviceNetwork[1]'],
    says: /one IPv4 network in networking\.serviceNetwork, found 172\.31\.0\.0\/16 as well/,
  },
  {
    name: 'host prefix larger than its network',
    edits: [['hostPrefix: 23', 'hostPrefix: 13']],
    faults: ['17 networking.clusterNetwork[0].hostPrefix'],
    says: /from 14 to 30 in 10\.128\.0\.0\/14/,
  },
  {
    name: 'host prefix 31',
    edits: [['hostPrefix: 23', 'hostPrefix: 31']],
    faults: ['17 networking.clusterNetwork[0].hostPrefix'],
  },
  {
    name: 'default host prefix does not fit',
    edits: [['10.128.0.0/14\n    hostPrefix: 23', '10.128.0.0/24']],
    faults: ['16 networking.clusterNetwork[0].hostPrefix'],
    says: /23 by default/,
  },
  {
    name: 'a machine network that is a text',
    edits: [['  - cidr: 192.168.7.0/24', '  - 192.168.7.0/24']],
    faults: ['14 networking.machineNetwork[0]'],
  },
  {
    name: 'the old name machineCIDR',
    edits: [['  networkType: OVNKubernetes', '  machineCIDR: 10.0.0.0/16']],
    faults: ['12 networking.machineCIDR'],
    says: /Use machineNetwork instead/,
  },
];
