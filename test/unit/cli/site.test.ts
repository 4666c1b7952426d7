import { join } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { configNotices } from '../../../cli/create/site-notices.ts';
import { readInstallSettings } from '../../../cli/install-config/settings.ts';
import { isPartitionIndex } from '../../../lib/config/site/boot-arguments.ts';
import { diskPathProblem } from '../../../lib/config/site/disk.ts';
import { repositoryProblem } from '../../../lib/config/site/mirrors.ts';
import { nmstateMisfits } from '../../../lib/config/site/nmstate/document.ts';
import {
  completeNoProxy,
  noProxyProblem,
  proxyUrlProblem,
} from '../../../lib/config/site/proxy.ts';
import { agentsExecutable } from './agents-executable.ts';
import { EXPIRED_CA, SITE_CA } from './certificates.ts';
import { type Edit, edited } from './install-config-file.ts';
import { sno } from './run-sno.ts';

const indented = (text: string) => text.trim().replaceAll('\n', '\n  ');

const NETWORK = `interfaces:
- name: bond0
  type: bond
  link-aggregation: {mode: 802.3ad, port: [eno1, lan], options: {miimon: "100"}}
- {name: lan, type: ethernet, identifier: mac-address, mac-address: "52:54:00:12:34:56"}
- {name: eno9, type: ethernet, state: absent}
- name: bond0.100
  type: vlan
  vlan: {base-iface: bond0, id: 100}
  ipv4: {enabled: true, dhcp: false, address: [{ip: 192.168.7.10, prefix-length: 24}]}
  ipv6: {enabled: true, address: [{ip: "fd00::10", prefix-length: 64}]}
- {name: br-ex, type: ovs-bridge, bridge: {port: [{name: eno2}, {name: br-ex}]}}
- {name: br-ex, type: ovs-interface}
routes:
  config:
  - {destination: 0.0.0.0/0, next-hop-address: 192.168.7.1, next-hop-interface: bond0.100}
  - {destination: "::/0", next-hop-address: "fd00::1", next-hop-interface: bond0.100}
  - {destination: 10.9.0.0/16, route-type: blackhole}
  - {state: absent, next-hop-interface: eno9}
dns-resolver:
  config: {server: [192.168.7.1, "fe80::1%eno1"], search: [example.com]}
`;

const SITE: readonly Edit[] = [
  [
    'existingSystem: overwrite',
    `existingSystem: overwrite
  additionalNTPSources: [ntp1.example.com, "fd00::123"]
  kernelArguments: ["console=ttyS0,115200n8", nosmt]
  reservedCPUs: 0-1,4
  onAddressChange: follow
  metadataFromPods: allow
  sealSecrets: tpm2
  savePartitions: {labels: ["data*"], indexes: [5, "7-"]}
  networkConfig:
    ${indented(NETWORK).replaceAll('\n', '\n  ')}`,
  ],
  [
    'platform:',
    `proxy:
  httpProxy: http://me:hunter2@proxy.example.com:3128
  httpsProxy: https://proxy.example.com
  noProxy: .example.org,10.1.0.0/16
additionalTrustBundle: |
  # the site's own
  ${indented(SITE_CA)}
  ${indented(EXPIRED_CA)}
imageDigestSources:
- source: quay.io/a/b
  mirrors: [mirror.example.com:5000/ocp4]
- source: quay.io/a/b
  mirrors: [mirror.example.com:5000/ocp4, mirror.example.com:5000/a/b]
  sourcePolicy: NeverContactSource
platform:`,
  ],
];

t.test('the site configuration as passed to the host', async (t) => {
  const read = readInstallSettings(edited(SITE), '/dev/disk/by-id/wwn-0x1 --offline');
  if (!read.ok) {
    t.same(read.faults, []);
    return;
  }
  t.match(read.settings, {
    expectedAdapters: ['eno1', 'eno2'],
    bundleWithoutProxy: false,
    cluster: {
      installation: {
        kernelArguments: ['console=ttyS0,115200n8', 'nosmt'],
        savePartitions: { labels: ['data*'], indexes: ['5', '7-'] },
      },
      reservedCpus: '0-1,4',
      onAddressChange: 'follow',
      metadataFromPods: 'allow',
      sealSecrets: 'tpm2',
      proxy: {
        httpProxy: 'http://me:hunter2@proxy.example.com:3128',
        httpsProxy: 'https://proxy.example.com',
        noProxy: [
          '.cluster.local',
          '.example.org',
          '.svc',
          '10.1.0.0/16',
          '10.128.0.0/14',
          '127.0.0.1',
          '172.30.0.0/16',
          '192.168.7.0/24',
          'api-int.sno.example.com',
          'localhost',
        ],
      },
      additionalTrustBundle: `${SITE_CA}${EXPIRED_CA}`,
      additionalNtpSources: ['ntp1.example.com', 'fd00::123'],
      imageMirrors: [
        {
          source: 'quay.io/a/b',
          mirrors: ['mirror.example.com:5000/ocp4', 'mirror.example.com:5000/a/b'],
          digestOnly: true,
          neverContactSource: true,
        },
      ],
    },
  });
  const text = read.settings.cluster.networkConfig ?? '';
  t.same(parse(text), parse(NETWORK));
  t.match(text, /mac-address: "52:54:00:12:34:56"/);
  t.match(text, /mode: "802\.3ad"/);
});

t.test('create reports what may be unintended, and shows no password', async (t) => {
  const dir = join(
    t.testdir({ agents: agentsExecutable(), cluster: { 'install-config.yaml': edited(SITE) } }),
    'cluster',
  );
  const args = ['--dir', dir, '--agents-executable', join(dir, '../agents')];
  const { code, err } = await sno(['create', 'single-node-ignition-config', ...args]);
  t.notMatch(err, /^(?!Notice: )./m, 'nothing but notices');
  t.equal(code, 0);
  t.match(err, /the certificate CN=Old CA of additionalTrustBundle expired on Jan {2}1/);
  t.match(
    err,
    /containerd cannot use the mirror mirror\.example\.com:5000\/ocp4 of quay\.io\/a\/b/,
  );
  t.match(err, /containerd contacts quay\.io when the mirrors of quay\.io\/a\/b fail/);
  t.match(err, /networkConfig expects these adapters on the host: eno1, eno2/);
  t.match(err, /partitions kept on the disk: data\*, 5, 7-/);
  t.notMatch(err, /hunter2/);
});

t.test('a CA bundle is trusted even without a configured proxy', async (t) => {
  const bundle = `additionalTrustBundle: |\n  ${indented(SITE_CA)}\n`;
  for (const [policy, said] of [
    ['', 1],
    ['additionalTrustBundlePolicy: Proxyonly\n', 1],
    ['additionalTrustBundlePolicy: Always\n', 0],
  ] as const) {
    const read = readInstallSettings(
      edited([['platform:', `${bundle}${policy}platform:`]]),
      undefined,
    );
    const notices = read.ok ? configNotices(read.settings) : [];
    t.equal(notices.filter((notice) => /Proxyonly/.test(notice)).length, said, policy);
    t.equal(read.ok && read.settings.cluster.additionalTrustBundle, SITE_CA);
  }
});

t.test('noProxy is completed as by the installer, and * is left alone', async (t) => {
  const cluster = {
    name: 'sno',
    baseDomain: 'example.com',
    machineNetwork: ['10.0.0.0/16', 'fd00::/64'],
    clusterNetwork: [{ cidr: '10.128.0.0/14', hostPrefix: 23 }],
    serviceNetwork: ['172.30.0.0/16'],
  };
  t.same(completeNoProxy('*', cluster), ['*']);
  t.same(completeNoProxy('', cluster), [
    '.cluster.local',
    '.svc',
    '10.0.0.0/16',
    '10.128.0.0/14',
    '127.0.0.1',
    '172.30.0.0/16',
    'api-int.sno.example.com',
    'fd00::/64',
    'localhost',
  ]);
  t.equal(completeNoProxy('localhost,a.example.com', cluster).length, 10);
});

t.test('valid values are accepted', async (t) => {
  for (const url of ['http://p', 'http://p:3128/', 'http://u:p%40s@[fd00::1]:3128']) {
    t.equal(proxyUrlProblem(url, ['http']), undefined, url);
  }
  for (const list of ['*', 'a', '.a.b', '10.0.0.1', '10.0.0.0/8', 'fd00::/64,fd00::1']) {
    t.equal(noProxyProblem(list), undefined, list);
  }
  for (const name of [
    'quay.io',
    'r:5000',
    'r:5000/a/b-c__d.e',
    'localhost/a',
    '[fd00::1]:5000/a',
  ]) {
    t.equal(repositoryProblem(name), undefined, name);
  }
  for (const index of [1, '1', '5-7', '5-', '-7', '128']) t.ok(isPartitionIndex(index), `${index}`);
  const disks =
    'sda vdb nvme0n1 mmcblk0 md127 dm-0 disk/by-id/scsi-part disk/by-path/pci-0000:00:1f.2-ata-1';
  for (const disk of disks.split(' ')) t.equal(diskPathProblem(`/dev/${disk}`), undefined, disk);
  t.same(nmstateMisfits({ 'dns-resolver': { config: {} } }, 'hostname'), []);
});
