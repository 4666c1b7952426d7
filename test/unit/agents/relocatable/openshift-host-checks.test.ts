/** What only a host of CoreOS can confirm: each is a refusal of `reconfigure prepare` that begins with its own code. */
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { coreOsFaults } from '../../../../agents/reconfigure/openshift/host-checks.ts';
import { isInstalled } from '../../../../lib/host/search-path.ts';
import {
  HOST_CHECKS,
  type HostCheck,
} from '../../../../lib/relocation/relocatable/openshift/host-checks.ts';
import { root } from '../../structure/source.ts';
import { refuse } from '../host/api.ts';
import type { TestHost } from '../host/host.ts';
import {
  discoveryOf,
  NODE,
  openShiftApi,
  openShiftHost,
  prepare,
  type said,
  servedPlurals,
  steadyDaemon,
} from './openshift-host.ts';
import { prepareSaying, refusedWithoutChange } from './openshift-refused.ts';

interface Case {
  readonly what: string;
  readonly check: HostCheck;
  readonly says: RegExp;
  readonly host?: (host: TestHost) => void;
  readonly api?: Partial<typeof said>;
}

const CURRENT = '/etc/machine-config-daemon/currentconfig';
const withAnnotations = (annotations: Readonly<Record<string, string>>) => ({
  nodes: [
    {
      metadata: { name: 'edge-0', annotations },
      status: { addresses: [{ type: 'InternalIP', address: NODE.address }] },
    },
  ],
});

const cases: readonly Case[] = [
  {
    what: 'another operating system',
    check: 'operating-system',
    host: (host) => host.write('/usr/lib/os-release', 'ID=debian\nPRETTY_NAME="Debian 12"\n'),
    says: /expected RHCOS or SCOS, found Debian 12/,
  },
  {
    what: 'an executable that systemd may not run',
    check: 'starts-as-unit',
    host: (host) => host.programs.give('systemd-run', 'echo "203/EXEC" >&2; exit 203'),
    says: /sno-agents does not run as a unit.*chcon --type=bin_t/s,
  },
  {
    what: 'a daemon that is at work',
    check: 'machine-config-daemon',
    api: withAnnotations({
      ...steadyDaemon,
      'machineconfiguration.openshift.io/state': 'Working',
    }),
    says: /the state Working/,
  },
  {
    what: 'a configuration that is wanted, and not applied',
    check: 'machine-config-daemon',
    api: withAnnotations({
      ...steadyDaemon,
      'machineconfiguration.openshift.io/desiredConfig': 'rendered-master-2',
    }),
    says: /configuration rendered-master-1, desired rendered-master-2/,
  },
  {
    what: 'a daemon that keeps its configuration elsewhere',
    check: 'machine-config-daemon',
    host: (host) => host.remove(CURRENT),
    says: /keeps no present configuration/,
  },
  {
    what: 'a configuration in another form',
    check: 'machine-config-daemon',
    host: (host) => host.write(CURRENT, '{"spec":{"files":[]}}'),
    says: /currentconfig cannot be read/,
  },
  {
    what: 'a drop-in behind ours',
    check: 'kubelet-environment',
    host: (host) =>
      host.write('/kubelet-environment', `KUBELET_NODE_IPS=198.51.100.7 KUBELET_NODE_NAME=edge-0`),
    says: /gives the kubelet no KUBELET_NODE_IPS=192\.0\.2\.10: a drop-in behind/,
  },
  {
    what: 'a longer address, and a longer name',
    check: 'kubelet-environment',
    host: (host) =>
      host.write('/kubelet-environment', `KUBELET_NODE_IPS=192.0.2.100 KUBELET_NODE_NAME=edge-01`),
    says: /no KUBELET_NODE_IPS=192\.0\.2\.10: .*no KUBELET_NODE_NAME=edge-0: /,
  },
  {
    what: 'a unit that this release has not',
    check: 'network-units',
    host: (host) => host.write('/network-units', 'LoadState=not-found\nResult=success\n'),
    says: /ovs-configuration\.service has LoadState=not-found/,
  },
  {
    what: 'a bridge that was not made',
    check: 'network-units',
    host: (host) => host.write('/network-units', 'LoadState=loaded\nResult=exit-code\n'),
    says: /Result=exit-code/,
  },
  ...['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'].map(
    (name): Case => ({
      what: `the static pod of ${name} under another name`,
      check: 'static-pods',
      host: (host) => host.remove(`/etc/kubernetes/manifests/${name}-pod.yaml`),
      says: new RegExp(`/${name}-pod\\.yaml does not exist`),
    }),
  ),
  {
    what: 'no name servers of the network',
    check: 'resolver',
    host: (host) =>
      host.write('/run/NetworkManager/no-stub-resolv.conf', '# none\n#nameserver 198.51.100.1\n'),
    says: /no-stub-resolv\.conf names no server/,
  },
  {
    what: 'a script that was not run',
    check: 'ovn-bridge',
    host: (host) => host.write('/ovn-bridge', '198.51.100.8'),
    says: /br-ex has 198\.51\.100\.7, 198\.51\.100\.8, not 192\.0\.2\.10/,
  },
  {
    what: 'a bridge that is made in another way',
    check: 'ovn-profiles',
    host: (host) => host.write('/profiles', 'uuid-1:br-ex\nuuid-2:br-ex-port\n'),
    says: /no profile ovs-port-br-ex, ovs-if-br-ex, ovs-port-phys0, ovs-if-phys0, found br-ex, /,
  },
  {
    what: 'a network that nmstate cannot describe',
    check: 'nmstate',
    host: (host) => host.programs.give('nmstatectl', 'echo "no OVSDB" >&2; exit 1'),
    says: /"nmstatectl show" fails: .*no OVSDB/,
  },
  ...['/etc/ovnk/default_bridge', '/etc/ovnk/extra_bridge', '/etc/nmstate/openshift/applied'].map(
    (path): Case => ({
      what: `a bridge by ${path}`,
      check: 'ovn-bridge-by-hand',
      host: (host) => host.write(path, 'ens4\n'),
      says: /described by hand/,
    }),
  ),
];

for (const { what, check, says, host: change, api } of cases) {
  t.test(`refused: ${what}`, async (t) => {
    const host = openShiftHost(t);
    await openShiftApi(t, host, api);
    change?.(host);
    const said = new RegExp(`${check}: [^;]*${says.source}`, 's');
    t.same(await refusedWithoutChange(t, host, said), [check], 'and nothing else');
  });
}

for (const name of ['chronyc', 'nmcli', 'nmstatectl', 'ovs-vsctl']) {
  t.test(`refused: a CoreOS that has no ${name} any more`, async (t) => {
    // The machine of the test may have one; it is asked, since a guarded one would count as installed.
    const host = openShiftHost(t, { programs: 'real' });
    await openShiftApi(t, host);
    host.programs.remove(name);
    if (await isInstalled(name)) return;
    const { code, text } = await prepareSaying(host);
    t.equal(code, 2);
    t.match(text, `found programs: the host has no ${name}`);
    t.notMatch(text, 'ovn-bridge-by-hand', 'said once');
    t.notOk(host.has('/etc/sno-agents/factory.json'));
  });
}

for (const [absent, fails, checks] of [
  ['nmcli', 'nmstatectl', ['programs', 'nmstate']],
  ['nmcli', undefined, ['programs']],
  ['nmstatectl', undefined, ['programs']],
] as const) {
  t.test(`each fault is said once: no ${absent}, ${fails ?? 'nothing'} fails`, async (t) => {
    const host = openShiftHost(t, { programs: 'real' });
    host.programs.remove(absent);
    if (await isInstalled(absent)) return;
    if (fails !== undefined) host.programs.give(fails, 'exit 1');
    const found = await coreOsFaults(host.paths, AbortSignal.timeout(60_000));
    t.same(
      found.map(({ check }) => check),
      checks,
    );
  });
}

t.test('a host of another installer has none of our folders yet', async (t) => {
  const host = openShiftHost(t);
  host.write('/var/lib/etcd/member/snap/db');
  host.remove('/etc/sno-agents');
  t.same(await coreOsFaults(host.paths, AbortSignal.timeout(60_000)), []);
});

t.test('whoever is told to stop has found nothing', async (t) => {
  // Without programs that would end as well.
  const host = openShiftHost(t, { programs: 'real' });
  for (const name of ['nmcli', 'nmstatectl']) host.programs.remove(name);
  const stopped = AbortSignal.abort(new Error('told to stop'));
  await t.rejects(coreOsFaults(host.paths, stopped), { message: 'told to stop' });
});

/** One of them is on another file system than the host of a test, wherever temporary folders are. */
const FOLDERS = ['/dev/shm', '/run', '/var/tmp', import.meta.dirname];

for (const [what, folder] of [
  ['etcd', '/var/lib/etcd'],
  ['what etcd is moved to', '/var/lib/sno-agents'],
] as const) {
  t.test(`a disk of its own for ${what}`, async (t) => {
    const host = openShiftHost(t);
    await openShiftApi(t, host);
    const own = statSync(host.root).dev;
    const other = FOLDERS.find((path) => existsSync(path) && statSync(path).dev !== own);
    if (other === undefined) throw new Error('there is one file system only');
    const elsewhere = mkdtempSync(join(other, 'sno-'));
    t.teardown(() => rmSync(elsewhere, { recursive: true }));
    host.write('/var/lib/etcd/member/snap/db');
    cpSync(host.at(folder), elsewhere, { recursive: true });
    host.remove(folder);
    symlinkSync(elsewhere, host.at(folder));
    await refusedWithoutChange(
      t,
      host,
      /movable-folders: \/var\/lib\/etcd is not on the file system of \/var\/lib\/sno-agents/,
    );
  });
}

t.test(
  'a kind that the API does not serve any more, alone in its group or beside others',
  async (t) => {
    for (const [apiVersion, plural] of [
      ['operator.openshift.io/v1alpha1', 'imagecontentsourcepolicies'],
      ['config.openshift.io/v1', 'proxies'],
    ] as const) {
      const host = openShiftHost(t);
      const others = servedPlurals[apiVersion]?.filter((each) => each !== plural) ?? [];
      await openShiftApi(t, host, {}, discoveryOf({ ...servedPlurals, [apiVersion]: others }));
      const says = new RegExp(`served-kinds: the API serves no ${plural} of ${apiVersion}: [^;]*$`);
      await refusedWithoutChange(t, host, says);
    }
  },
);

t.test('a cluster without the pool of its node: nothing is said of files', async (t) => {
  const host = openShiftHost(t);
  const path = '/apis/machineconfiguration.openshift.io/v1/machineconfigpools/master';
  await openShiftApi(t, host, {}, { [`GET ${path}`]: () => refuse(404, 'none', 'NotFound') });
  const { code, text } = await prepareSaying(host);
  t.equal(code, 2);
  t.match(text, /pool/);
  t.notMatch(text, /does not exist|other contents/);
});

t.test('SCOS is a CoreOS', async (t) => {
  const host = openShiftHost(t);
  await openShiftApi(t, host, {
    version: {
      metadata: { name: 'version' },
      status: { desired: { version: '4.21.0-okd-scos.3' } },
    },
  });
  host.write('/usr/lib/os-release', 'ID="centos"\nVERSION_ID="10"\nVARIANT_ID=coreos\n');
  t.match(await prepare(host), { code: 0 });
});

t.test('an unknown release, accepted', async (t) => {
  const host = openShiftHost(t);
  await openShiftApi(t, host, {
    version: { metadata: { name: 'version' }, status: { desired: { version: '5.1.3' } } },
  });
  await refusedWithoutChange(t, host, /release: OpenShift 5\.1\.3.*--accept-unknown-release/);
  t.match(await prepare(host, '--accept-unknown-release'), { code: 0 });
  const policy = () => JSON.parse(host.read('/etc/sno-agents/factory.json'));
  t.equal(policy().unknownReleaseAccepted, true, 'so that "validate" accepts it as well');
  t.match(await prepare(host, '--shipping-days', '7'), { code: 0 }, 'and the next run');
  t.match(policy(), { unknownReleaseAccepted: true, shippingDays: 7 });
});

t.test('an old release stays refused', async (t) => {
  const host = openShiftHost(t);
  await openShiftApi(t, host, {
    version: { metadata: { name: 'version' }, status: { desired: { version: '4.18.9' } } },
  });
  await refusedWithoutChange(t, host, /release: .*4\.18\.9/, '--accept-unknown-release');
});

t.test('every code is in the document for whoever is the first', async (t) => {
  const page = readFileSync(join(root, 'docs/first-openshift.md'), 'utf8');
  for (const [code, meaning] of Object.entries(HOST_CHECKS)) {
    t.match(page, `| \`${code}\` | ${meaning} |`);
  }
});
