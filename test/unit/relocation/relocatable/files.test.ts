import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import t from 'tap';
import {
  kubeletEnvironmentPath,
  kubeletEnvironmentText,
  readKubeletEnvironment,
} from '../../../../lib/host/kubelet-environment.ts';
import { hostPaths } from '../../../../lib/host/paths.ts';
import { bridgeFiles, bridgeProfile } from '../../../../lib/relocation/relocatable/bridge.ts';
import { nodeDns, siteDns } from '../../../../lib/relocation/relocatable/local-dns.ts';
import {
  fixedByKubeletDropin,
  relocatableFiles,
  relocatableManifest,
} from '../../../../lib/relocation/relocatable/machine-config.ts';
import { mediaRule } from '../../../../lib/relocation/relocatable/media-rule.ts';
import {
  type FactoryPolicy,
  factoryPolicyPath,
  internalAddresses,
  readFactoryPolicy,
  writeFactoryPolicy,
} from '../../../../lib/relocation/relocatable/policy.ts';
import { VOLUME_LABELS } from '../../../../lib/relocation/site-volume/volume.ts';
import { testHost } from '../../agents/host/host.ts';

const policy: FactoryPolicy = {
  schemaVersion: 1,
  internalAddress: '192.0.2.10',
  nodeName: 'edge-0',
  allowedSigners: ['ssh-ed25519 AAAA'],
  unsignedAllowed: false,
  siteUrl: 'https://sites.example.test/',
  shippingDays: 30,
  recipient: 'age1qqqq',
};

t.test('the policy of the factory is what was written', async (t) => {
  const paths = hostPaths(t.testdir());
  t.equal(await readFactoryPolicy(paths), undefined, 'a node that is not relocatable');
  await writeFactoryPolicy(paths, policy);
  t.strictSame(await readFactoryPolicy(paths), policy);
  t.strictSame(internalAddresses(policy), ['192.0.2.10']);
  const both = { ...policy, internalAddress: 'fd00::1', secondInternalAddress: '192.0.2.10' };
  await writeFactoryPolicy(paths, both);
  t.strictSame(await readFactoryPolicy(paths), both);
  t.strictSame(internalAddresses(both), ['fd00::1', '192.0.2.10']);
});

t.test('what a policy may say', async (t) => {
  const paths = hostPaths(t.testdir());
  for (const change of [
    { shippingDays: 1 },
    { shippingDays: 3650 },
    { siteUrl: 'dhcp' },
    { siteUrl: 'http://192.0.2.1/' },
    { unknownReleaseAccepted: true },
  ] as const) {
    await writeFactoryPolicy(paths, { ...policy, ...change });
    t.match(await readFactoryPolicy(paths), change);
  }
});

const damaged: readonly [what: string, change: object][] = [
  ['another version', { schemaVersion: 2 }],
  ['an unknown field', { further: true }],
  ['a name for an address', { internalAddress: 'edge-0' }],
  ['no days', { shippingDays: 0 }],
  ['half a day', { shippingDays: 0.5 }],
  ['more than ten years', { shippingDays: 3651 }],
  ['a URL of a file', { siteUrl: 'file:///etc/shadow' }],
  ['a recipient of another kind', { recipient: 'ssh-ed25519 AAAA' }],
  ['no name', { nodeName: '' }],
];

t.test('a damaged policy is refused: who may sign decides who owns the node', async (t) => {
  const paths = hostPaths(t.testdir());
  mkdirSync(dirname(factoryPolicyPath(paths)), { recursive: true });
  for (const [what, change] of damaged) {
    writeFileSync(factoryPolicyPath(paths), JSON.stringify({ ...policy, ...change }));
    await t.rejects(readFactoryPolicy(paths), { message: /cannot be used/ }, what);
  }
  writeFileSync(factoryPolicyPath(paths), '{"schemaVersion": 1');
  await t.rejects(readFactoryPolicy(paths), { message: /cannot be used/ }, 'half a file');
});

t.test('the environment of the kubelet, with and without a pinned name', async (t) => {
  const paths = hostPaths(t.testdir());
  t.equal(await readKubeletEnvironment(paths), undefined);
  mkdirSync(dirname(kubeletEnvironmentPath(paths)), { recursive: true });
  for (const environment of [
    { nodeIps: ['192.0.2.10', '2001:db8::10'] },
    { nodeIps: ['192.0.2.10'], nodeName: 'edge-0.example.test' },
  ]) {
    writeFileSync(kubeletEnvironmentPath(paths), kubeletEnvironmentText(environment));
    t.strictSame(await readKubeletEnvironment(paths), environment);
  }
  writeFileSync(kubeletEnvironmentPath(paths), 'KUBELET_NODE_NAME=edge-0\n');
  t.equal(await readKubeletEnvironment(paths), undefined, 'without addresses nothing is fixed');
});

t.test('the bridge takes no route, no name server and no address of IPv6', async (t) => {
  const profile = bridgeProfile('192.0.2.10');
  t.match(
    profile,
    /^\[connection\]\nid=br-node\ntype=bridge\ninterface-name=br-node\nautoconnect=true\n/m,
  );
  t.match(profile, /^\[ipv4\]\nmethod=manual\naddress1=192\.0\.2\.10\/32\nnever-default=true\n/m);
  t.match(profile, /^\[ipv6\]\nmethod=disabled\n/m);
  t.notMatch(profile, /dns|gateway|route/);
  t.strictSame(
    bridgeFiles(['192.0.2.10']).map(({ contents }) => contents),
    [profile],
    'and has no script',
  );
});

t.test('NetworkManager leaves an address of IPv6 to the script', async (t) => {
  for (const [addresses, ipv4] of [
    [['fd00::10'], /^\[ipv4\]\nmethod=disabled\n/m],
    [['fd00::10', '192.0.2.10'], /^\[ipv4\]\nmethod=manual\naddress1=192\.0\.2\.10\/32\n/m],
  ] as const) {
    const [script, profile] = bridgeFiles(addresses);
    t.match(profile?.contents, ipv4);
    t.match(profile?.contents, /^\[ipv6\]\nmethod=ignore\n/m);
    t.match(script, {
      path: '/etc/NetworkManager/dispatcher.d/pre-up.d/50-sno-internal-address',
      mode: 0o755,
    });
  }
});

t.test(
  'the files of the MachineConfig are where nodes of earlier releases have them',
  async (t) => {
    const node = { address: '192.0.2.10', nodeName: 'edge-0', clusterDomain: 'edge.example.test' };
    const files = relocatableFiles(node);
    t.strictSame(
      files.map(({ path, mode }) => `0${mode.toString(8)} ${path}`),
      [
        '0600 /etc/NetworkManager/system-connections/br-node.nmconnection',
        '0755 /etc/NetworkManager/dispatcher.d/pre-up.d/50-sno-internal-address',
        '0644 /etc/NetworkManager/conf.d/90-sno-local-dns.conf',
        '0644 /etc/resolv.conf',
        '0644 /etc/dnsmasq.d/sno-node.conf',
        '0644 /etc/systemd/system/dnsmasq.service.d/50-sno-local-dns.conf',
        '0644 /etc/systemd/system/kubelet.service.d/30-sno-node.conf',
        '0644 /etc/systemd/system/kubelet.service.d/50-sno-sealed.conf',
        '0644 /etc/systemd/system/crio.service.d/30-sno-node.conf',
        '0644 /etc/systemd/system/nodeip-configuration.service.d/50-sno-no-hint.conf',
      ],
    );
    const text = new Map(
      files.map(({ path, contents }) => [path.split('/').slice(-2).join('/'), contents]),
    );
    t.match(
      text.get('kubelet.service.d/30-sno-node.conf'),
      /NODE_IP=192\.0\.2\.10" .*NODE_IPS=192\.0\.2\.10"\n.*NODE_NAME=edge-0"/,
    );
    t.match(text.get('kubelet.service.d/50-sno-sealed.conf'), /^ConditionPathExists=!.*sealed$/m);
    t.match(text.get('crio.service.d/30-sno-node.conf'), /CONTAINER_STREAM_ADDRESS=192\.0\.2\.10/);
    const dnsmasq = text.get('dnsmasq.service.d/50-sno-local-dns.conf')?.split('\n');
    for (const line of [
      'Before=kubelet-dependencies.target crio.service',
      'After=NetworkManager.service',
      'StartLimitIntervalSec=0',
      'Restart=on-failure',
    ]) {
      t.ok(dnsmasq?.includes(line), line);
    }
    t.match(
      text.get('nodeip-configuration.service.d/50-sno-no-hint.conf'),
      /^UnsetEnvironment=NODEIP_HINT KUBELET_NODEIP_HINT$/m,
    );
    t.match(text.get('conf.d/90-sno-local-dns.conf'), /^rc-manager=unmanaged$/m);
    t.match(text.get('etc/resolv.conf'), /^nameserver 192\.0\.2\.10$/m);
    t.match(
      text.get('dnsmasq.d/sno-node.conf'),
      /^address=\/apps\.edge\.example\.test\/192\.0\.2\.10$/m,
    );
    t.match(
      JSON.stringify(relocatableManifest(node)),
      /"enabled":true,"name":"dnsmasq\.service"|"name":"dnsmasq\.service","enabled":true/,
    );
  },
);

t.test('NetworkManager runs a script for each adapter: it changes its bridge alone', async (t) => {
  const node = { address: '192.0.2.10', nodeName: 'edge-0', clusterDomain: 'edge.example.test' };
  const SCRIPT = /pre-up\.d\/50-sno-internal-address$/;
  for (const [files, call] of [
    [relocatableFiles(node), 'ip address replace 192.0.2.10/32 dev br-ex'],
    [bridgeFiles(['fd00::10']), 'ip -6 address replace fd00::10/128 dev br-node nodad'],
  ] as const) {
    const host = testHost(t);
    host.programs.give('ip', 'true');
    host.write('/script', files.find(({ path }) => SCRIPT.test(path))?.contents ?? '');
    for (const adapter of ['br-node', 'br-ex', 'eno1']) {
      host.programs.forgetCalls();
      for (const action of ['pre-up', 'up', 'down'])
        execFileSync('sh', [host.at('/script'), adapter, action]);
      t.same(host.programs.calls('ip'), call.includes(`dev ${adapter}`) ? [call] : [], adapter);
    }
  }
});

t.test('in place of what assisted-service has made', async (t) => {
  const node = { address: '192.0.2.10', nodeName: 'edge-0', clusterDomain: 'edge.example.test' };
  const own = relocatableFiles(node).map(({ path }) => path);
  const more = relocatableFiles({ ...node, replacesAssistedDns: true }).filter(
    ({ path }) => !own.includes(path),
  );
  t.strictSame(
    more.map(({ path, mode }) => `0${mode.toString(8)} ${path}`),
    [
      '0755 /usr/local/bin/dnsmasq_config.sh',
      '0755 /etc/NetworkManager/dispatcher.d/forcedns',
      '0644 /etc/systemd/system/dnsmasq.service',
    ],
  );
  const [names, resolver, unit] = more.map(({ contents }) => contents);
  t.match(names, /^exec rm -f \/etc\/dnsmasq\.d\/single-node\.conf$/m);
  t.match(resolver, /^#!\/bin\/bash\n#.*\nexit 0\n$/, 'with another one, the operator runs it');
  t.match(unit, /^ExecStart=\/usr\/sbin\/dnsmasq -k$/m, 'in the foreground, as systemd starts it');
});

t.test('what the drop-in of the kubelet fixes: both, or nothing', async (t) => {
  const text = (...all: string[]) =>
    `[Service]\n${all.map((each) => `Environment="${each}"\n`).join('')}`;
  const [address, name] = ['KUBELET_NODE_IPS=192.0.2.10', 'KUBELET_NODE_NAME=edge-0'];
  t.strictSame(fixedByKubeletDropin(text(address, name)), {
    address: '192.0.2.10',
    nodeName: 'edge-0',
  });
  t.equal(fixedByKubeletDropin(text(address)), undefined);
  t.equal(fixedByKubeletDropin(text(name)), undefined);
});

t.test('udev starts it for a label in any case, and for whatever else is on USB', async (t) => {
  const lines = mediaRule.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  for (const line of lines) t.match(line, /(GOTO|RUN\+)="[^"]+"$|^LABEL="[^"]+"$/, line);
  const patterns = lines.flatMap(
    (line) => /^ENV\{ID_FS_LABEL\}=="(.*?)", RUN/.exec(line)?.[1] ?? [],
  );
  const labels = patterns.map((pattern) => new RegExp(`^${pattern}$`));
  for (const label of VOLUME_LABELS) {
    for (const name of [label, label.toUpperCase(), label.replace(/^./, (a) => a.toUpperCase())])
      t.equal(labels.filter((each) => each.test(name)).length, 1, name);
  }
  t.notOk(labels.some((each) => each.test('BACKUP')));
});

/** What udev runs for an event, by the rule's lines in turn; the values of its keys are patterns. */
function runBy(event: Readonly<Record<string, string>>): string | undefined {
  let label: string | undefined;
  for (const line of mediaRule.split('\n').filter((each) => /^[A-Z]/.test(each))) {
    const parts = [...line.matchAll(/([A-Z]+(?:\{\w+\})?)([=!+]?=)"([^"]*)"/g)];
    const said = new Map(parts.map(([, key = '', , value = '']) => [key, value]));
    if (label !== undefined && said.get('LABEL') !== label) continue;
    label = undefined;
    const isMet = parts.every(([, key = '', operator, value]) => {
      if (operator !== '==' && operator !== '!=') return true;
      return new RegExp(`^${value}$`).test(event[key] ?? '') === (operator === '==');
    });
    if (isMet && said.has('RUN')) return said.get('RUN');
    if (isMet) label = said.get('GOTO');
  }
  return undefined;
}

t.test('udev starts it for what was inserted, and for nothing else', async (t) => {
  const start = '/usr/bin/systemctl start --no-block reconfigure.service';
  const medium = { ACTION: 'add', SUBSYSTEM: 'block', 'ENV{ID_FS_USAGE}': 'filesystem' };
  const labelled = { ...medium, 'ENV{ID_FS_LABEL}': VOLUME_LABELS[0] ?? '' };
  const stick = { ...medium, SUBSYSTEMS: 'usb' };
  const changed = { ACTION: 'change', 'ENV{DISK_MEDIA_CHANGE}': '1' };
  for (const [what, event, expected] of [
    ['a medium with its label', labelled, start],
    ['another one in the same drive', { ...labelled, ACTION: 'change' }, start],
    ['it is removed', { ...labelled, ACTION: 'remove' }, undefined],
    ['what has that label and is no disk', { ...labelled, SUBSYSTEM: 'net' }, undefined],
    ['a disk of the host', medium, undefined],
    ['a stick with files', stick, start],
    ['it is removed', { ...stick, ACTION: 'remove' }, undefined],
    ['its part without files', { ...stick, 'ENV{ID_FS_USAGE}': '' }, undefined],
    ['it is written to', { ...stick, ACTION: 'change' }, undefined],
    ['another medium in a drive on USB', { ...stick, ...changed }, start],
    ['another medium in another drive', { ...medium, ...changed }, undefined],
  ] as const) {
    t.equal(runBy(event), expected, what);
  }
});

t.test(
  'the name server of the node answers for the names of the cluster, and for nobody else',
  async (t) => {
    const ofSite = siteDns('192.0.2.10', 'shop.example.com');
    const ofNode = nodeDns('192.0.2.10', 'edge.example.test');
    for (const [text, domain] of [
      [ofSite, 'shop.example.com'],
      [ofNode, 'edge.example.test'],
    ] as const) {
      const lines = text.split('\n');
      for (const name of ['api', 'api-int', 'apps']) {
        t.ok(lines.includes(`address=/${name}.${domain}/192.0.2.10`), `${name}.${domain}`);
        t.ok(lines.includes(`local=/${name}.${domain}/`), 'no other record of it is asked for');
      }
    }
    for (const line of ['listen-address=192.0.2.10', 'bind-dynamic', 'no-hosts']) {
      t.ok(ofNode.split('\n').includes(line), line);
      t.notOk(ofSite.includes(line), 'said once');
    }
    t.match(ofNode, /^resolv-file=\/run\/NetworkManager\/no-stub-resolv\.conf$/m);
  },
);
