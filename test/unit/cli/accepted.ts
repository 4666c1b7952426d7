import { SITE_CA } from './certificates.ts';
import { type Edit, top } from './install-config-file.ts';

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f me';
const MACHINE = '  machineNetwork:\n  - cidr: 192.168.7.0/24\n';
const CLUSTER = '  clusterNetwork:\n  - cidr: 10.128.0.0/14\n    hostPrefix: 23\n';
const SERVICE = '  serviceNetwork:\n  - 172.30.0.0/16\n';
const proxy = (fields: string): Edit => top(`proxy: {httpProxy: "http://p:3128", ${fields}}`);

/**
 * Changes of the good file that are accepted, with the resulting values. The OpenShift installer
 * accepts them too, except for those that test/openshift-install/differences.ts explains.
 */
export const accepted: readonly { name: string; edits: readonly Edit[]; gives?: object }[] = [
  {
    name: 'an empty noProxy',
    edits: [proxy('noProxy: ""')],
    gives: { cluster: { proxy: { httpProxy: 'http://p:3128' } } },
  },
  {
    name: 'an absolute name in noProxy',
    edits: [proxy('noProxy: "a.com."')],
    gives: { cluster: { proxy: { noProxy: ['.cluster.local', '.svc'] } } },
  },
  {
    name: 'an empty httpsProxy',
    edits: [proxy('httpsProxy: ""')],
    gives: { cluster: { proxy: { httpProxy: 'http://p:3128' } } },
  },
  {
    name: 'an empty sshKey',
    edits: [[`|\n  ${KEY}`, '""']],
    gives: { cluster: { sshKeys: [] } },
  },
  {
    name: 'an SSH key with options',
    edits: [[KEY, `from="10.0.0.0/8",no-pty ${KEY}`]],
    gives: { cluster: { sshKeys: [`from="10.0.0.0/8",no-pty ${KEY}`] } },
  },
  {
    name: 'what looks like a template, where others read it',
    edits: [
      [KEY, `command="echo $\\{SSH_ORIGINAL_COMMAND}" ${KEY}`.replace('\\', '')],
      ['  name: sno\n', '  name: sno\n  annotations: {a: "{{ b }}"}\n'],
    ],
  },
  {
    name: 'workers',
    edits: [['replicas: 0', 'replicas: 3']],
    gives: { cluster: { dayOneWorkers: 3 } },
  },
  { name: 'an empty trust bundle', edits: [top('additionalTrustBundle: ""')] },
  {
    name: 'an empty policy of the trust bundle',
    edits: [
      top(`additionalTrustBundlePolicy: ""\nadditionalTrustBundle: ${JSON.stringify(SITE_CA)}`),
    ],
    gives: { cluster: { additionalTrustBundle: SITE_CA }, bundleWithoutProxy: true },
  },
  {
    name: 'an absolute base domain',
    edits: [['example.com\n', 'example.com.\n']],
    gives: { cluster: { baseDomain: 'example.com' } },
  },
  ...['no', 'No', 'NO', 'off', 'n', 'false', 'False'].map((word) => ({
    name: `fips: ${word}`,
    edits: [top(`fips: ${word}`)],
  })),
  {
    name: 'a merge key',
    edits: [
      [
        '- name: worker\n  replicas: 0',
        '- &pool\n  name: worker\n  replicas: 0\n  hyperthreading: Enabled',
      ],
      ['  name: master\n  replicas: 1', '  <<: *pool\n  name: master\n  replicas: 1'],
    ],
  },
  {
    name: 'a merge key with several sources, of which the first wins',
    edits: [
      ['metadata:\n  name: sno', 'metadata:\n  <<: [{name: one}, {name: two, labels: {a: b}}]'],
    ],
    gives: { cluster: { name: 'one' } },
  },
  {
    name: 'an alias',
    edits: [
      ['  - cidr: 192.168.7.0/24', '  - cidr: &machine 192.168.7.0/24'],
      ['pullSecret', 'proxy: {httpProxy: "http://p", noProxy: *machine}\npullSecret'],
    ],
  },
  {
    name: 'labels and annotations',
    edits: [['  name: sno\n', '  name: sno\n  labels: {a: b, c: 1, on: yes}\n  annotations: {}\n']],
    gives: { cluster: { name: 'sno' } },
  },
  { name: 'a kind', edits: [['apiVersion: v1', 'apiVersion: v1\nkind: InstallConfig']] },
  {
    name: 'empty lists of networks',
    edits: [
      [MACHINE, '  machineNetwork: []\n'],
      [CLUSTER, '  clusterNetwork: []\n'],
      [SERVICE, '  serviceNetwork: []\n'],
    ],
    gives: {
      cluster: {
        machineNetwork: ['10.0.0.0/16'],
        clusterNetwork: [{ cidr: '10.128.0.0/14', hostPrefix: 23 }],
        serviceNetwork: ['172.30.0.0/16'],
      },
    },
  },
  {
    name: 'an empty list of service networks beside IPv6 networks',
    edits: [
      [MACHINE, '  machineNetwork: [{cidr: "fd00:7::/64"}]\n'],
      [CLUSTER, ''],
      [SERVICE, '  serviceNetwork: []\n'],
    ],
    gives: { cluster: { serviceNetwork: ['fd02::/112'] } },
  },
  {
    name: 'empty lists of mirrors',
    edits: [top('imageContentSources: []\nimageDigestSources: []')],
    gives: { cluster: { imageMirrors: [] } },
  },
  {
    name: 'a registry without a login in the pull secret',
    edits: [['dXNlcjpwYXNz', '']],
    gives: { pullSecret: '{"auths":{"quay.io":{"auth":""}}}' },
  },
  {
    name: 'arm64',
    edits: [
      ['replicas: 0', 'replicas: 0\n  architecture: arm64'],
      ['replicas: 1', 'replicas: 1\n  architecture: arm64'],
    ],
    gives: { architecture: 'arm64' },
  },
  {
    name: 'arm64 for the control plane alone',
    edits: [['replicas: 1', 'replicas: 1\n  architecture: arm64']],
    gives: { architecture: 'arm64' },
  },
  {
    name: 'a name of 54 characters',
    edits: [['name: sno', `name: ${'a'.repeat(54)}`]],
    gives: { cluster: { name: 'a'.repeat(54) } },
  },
  {
    name: 'keys without values',
    edits: [
      top('proxy:\nsshKeys:\nadditionalTrustBundle: ~\nimageDigestSources: null'),
      ['sshKeys:\n', ''],
    ],
  },
];
