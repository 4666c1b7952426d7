/** `reconfigure prepare` on OpenShift: what it refuses, what it leaves, and what it takes back. */
import { readdirSync, symlinkSync } from 'node:fs';
import t from 'tap';
import { kubeletEnvironmentPath } from '../../../../lib/host/kubelet-environment.ts';
import { relocatableFiles } from '../../../../lib/relocation/relocatable/machine-config.ts';
import { readFactoryPolicy } from '../../../../lib/relocation/relocatable/policy.ts';
import { relocatableUnits } from '../../../../units/openshift.ts';
import { refuse } from '../host/api.ts';
import type { TestHost } from '../host/host.ts';
import {
  LOCAL_KUBECONFIG,
  NODE,
  openShiftApi,
  openShiftHost,
  prepare,
  said,
  steadyDaemon,
} from './openshift-host.ts';
import { prepareSaying, present, refusedWithoutChange } from './openshift-refused.ts';

t.test('it leaves what it leaves on the Kubernetes payload, and the units', async (t) => {
  const host = openShiftHost(t);
  await openShiftApi(t, host);
  const before = present(host);
  t.match(await prepare(host), { code: 0, text: /never run on a host of CoreOS/ });
  t.equal(host.read(kubeletEnvironmentPath(host.paths)), ENVIRONMENT, 'the same format');
  t.match(await readFactoryPolicy(host.paths), {
    internalAddress: NODE.address,
    nodeName: NODE.nodeName,
    allowedSigners: [
      'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHXHt+y5xL6hg/Dj27XI2zxTueZv7aunKpp04a4yIDvC factory',
    ],
    shippingDays: 30,
  });
  const enabled = readdirSync(host.at('/enabled')).toSorted();
  t.same(enabled, [
    'reconfigure.service',
    'sno-label.service',
    'sno-report.path',
    'sno-report.timer',
    'sno-site-url.timer',
    'sno-trial.service',
    'sno-trial.timer',
  ]);
  const added = [...present(host).keys()].filter((path) => !before.has(path)).toSorted();
  t.same(added, ADDED);
  t.same(
    added.filter((path) => (host.mode(path) & 0o044) === 0),
    ['/etc/sno-agents/factory.json', '/etc/sno-agents/reconfigure/age-identity.txt'],
    'for root alone',
  );
  for (const { path, contents } of relocatableFiles(NODE)) {
    t.equal(host.read(path), contents, `${path}: not touched`);
  }

  const policy = host.read('/etc/sno-agents/factory.json');
  t.match(await prepare(host), { code: 0 }, 'again');
  t.equal(host.read('/etc/sno-agents/factory.json'), policy, 'with the same key of age');

  host.write('/etc/sno-agents/sealed', '{}', 0o600);
  t.match(await prepare(host, '--undo'), { code: 0 });
  t.same(readdirSync(host.at('/enabled')), []);
  t.strictSame([...present(host).keys()].toSorted(), [...before.keys()].toSorted());
  t.match(await prepare(host, '--undo'), { code: 0 }, 'again');
});

const ENVIRONMENT = `KUBELET_NODE_IPS=${NODE.address}\nKUBELET_NODE_NAME=${NODE.nodeName}\n`;

const ADDED = [
  '/etc/crio/crio.conf.d/40-sno-pinned-images',
  '/etc/issue.d/30-sno-agents.issue',
  '/etc/sno-agents/factory.json',
  '/etc/sno-agents/kubelet.env',
  '/etc/sno-agents/reconfigure/age-identity.txt',
  ...relocatableUnits.map(({ name }) => `/etc/systemd/system/${name}`).toSorted(),
  '/etc/udev/rules.d/70-sno-site-volume.rules',
  '/usr/local/bin/reconfigure',
  '/usr/local/bin/sno-report',
  '/usr/local/bin/sno-trial',
  '/var/lib/sno-agents/bin/reconfigure',
  '/var/lib/sno-agents/bin/sno-report',
  '/var/lib/sno-agents/bin/sno-trial',
];

t.test('a program that fails, each in turn: the next attempt completes it', async (t) => {
  const complete = openShiftHost(t);
  await openShiftApi(t, complete);
  await prepare(complete);
  const wanted = [...present(complete).keys()].toSorted();
  for (const program of ['enable', 'daemon-reload', 'control']) {
    const host = openShiftHost(t);
    await openShiftApi(t, host);
    const once = `[ "$1" != ${program} ] || [ -f "$ROOT/failed" ] || { touch "$ROOT/failed"; exit 1; }`;
    host.programs.unless(program === 'control' ? 'udevadm' : 'systemctl', once);
    // Tried again at once, or by whoever runs the command again.
    await prepare(host);
    t.match(await prepare(host), { code: 0 });
    t.strictSame([...present(host).keys()].toSorted(), wanted, program);
    host.remove('/failed');
    host.programs.unless('systemctl', once.replace(program, 'disable'));
    await prepare(host, '--undo');
    t.match(await prepare(host, '--undo'), { code: 0 }, 'and the way back');
    t.notOk(host.has(kubeletEnvironmentPath(host.paths)));
  }
});

const conditions = (...all: [type: string, status: string][]) => ({
  ...said.pool,
  status: { conditions: all.map(([type, status]) => ({ type, status })) },
});
const notFound = () => refuse(404, 'not found', 'NotFound');

interface Refusal {
  readonly what: string;
  readonly says: RegExp;
  readonly host?: (host: TestHost) => void;
  readonly api?: Partial<typeof said>;
  /** How many checks find something; usually one. */
  readonly checks?: number;
}

const DROPIN = '/etc/systemd/system/kubelet.service.d/30-sno-node.conf';
const SCRIPT = '/etc/NetworkManager/dispatcher.d/pre-up.d/50-sno-internal-address';
const PROFILE = '/etc/NetworkManager/system-connections/br-node.nmconnection';

const refusals: readonly Refusal[] = [
  {
    what: 'an installation that has not ended',
    host: (host) => host.remove('/var/lib/sno-agents/record.json'),
    says: /the installation is not complete/,
  },
  {
    what: 'a change that is under way',
    host: (host) => host.write('/var/lib/sno-agents/reconfigure/request.json', '{}'),
    // By which it is seen, but not why.
    api: { pool: conditions(['Updated', 'False'], ['Degraded', 'False']) },
    says: /getting the configuration of its site/,
    checks: 0,
  },
  {
    what: 'a drop-in of somebody else',
    host: (host) => host.write(DROPIN, '[Service]\nEnvironment="KUBELET_NODE_IPS=192.0.2.10"\n'),
    says: /not installed as a relocatable one/,
  },
  {
    what: 'a sealed node',
    host: (host) => host.write('/etc/sno-agents/sealed', '{}'),
    says: /sealed.*--unseal/s,
  },
  {
    what: 'a file that is missing',
    host: (host) => host.remove('/etc/dnsmasq.d/sno-node.conf'),
    says: /\/etc\/dnsmasq\.d\/sno-node\.conf does not exist/,
  },
  {
    what: 'a file that was edited',
    host: (host) => host.write('/etc/resolv.conf', 'nameserver 127.0.0.1\n'),
    says: /\/etc\/resolv\.conf has other contents/,
  },
  {
    what: 'a folder in the place of a file',
    host: (host) => {
      host.remove('/etc/resolv.conf');
      host.write('/etc/resolv.conf/x');
    },
    says: /\/etc\/resolv\.conf is no regular file/,
  },
  {
    what: 'a link to the same contents in the place of a file',
    host: (host) => {
      host.write('/run/elsewhere', host.read('/etc/resolv.conf'), 0o644);
      host.remove('/etc/resolv.conf');
      symlinkSync(host.at('/run/elsewhere'), host.at('/etc/resolv.conf'));
    },
    says: /\/etc\/resolv\.conf is no regular file/,
  },
  {
    what: 'a profile that NetworkManager ignores',
    host: (host) => {
      const text = host.read(PROFILE);
      host.remove(PROFILE);
      host.write(PROFILE, text, 0o644);
    },
    says: /br-node\.nmconnection has the mode 0644, expected 0600/,
  },
  {
    what: 'a script that is not run',
    host: (host) => {
      const text = host.read(SCRIPT);
      host.remove(SCRIPT);
      host.write(SCRIPT, text, 0o644);
    },
    says: /50-sno-internal-address has the mode 0644, expected 0755/,
  },
  {
    what: 'a kubelet that is not gated',
    host: (host) => host.remove('/etc/systemd/system/kubelet.service.d/50-sno-sealed.conf'),
    says: /50-sno-sealed\.conf does not exist/,
  },
  {
    what: 'no name server',
    host: (host) => host.write('/dnsmasq', 'failed'),
    says: /name-server: dnsmasq\.service is not active/,
  },
  {
    what: 'another address on the bridge',
    host: (host) => host.write('/bridge', '192.0.2.11'),
    says: /br-node does not have the address 192\.0\.2\.10/,
  },
  {
    what: 'the address on an adapter, not on the bridge',
    host: (host) =>
      host.programs.give(
        'ip',
        `echo '[{"ifname":"eth0","addr_info":[{"local":"${NODE.address}","prefixlen":24,"scope":"global"}]}]'`,
      ),
    says: /br-node does not have the address 192\.0\.2\.10.*br-ex has no address/s,
    checks: 2,
  },
  {
    what: 'a release that nobody has read',
    api: { version: { metadata: { name: 'version' }, status: { desired: { version: '5.1.0' } } } },
    says: /release: OpenShift 5\.1\.0: expected OpenShift 4\.19 to 5\.0.*--accept-unknown-release/,
  },
  {
    what: 'an old release',
    api: { version: { metadata: { name: 'version' }, status: { desired: { version: '4.9.59' } } } },
    says: /release: OpenShift 4\.9\.59: expected OpenShift 4\.19 to 5\.0/,
  },
  {
    what: 'no version',
    api: { version: { metadata: { name: 'version' } } },
    says: /release: .* found no version/,
  },
  {
    what: 'files that were copied by hand',
    api: {
      pool: { ...said.pool, spec: { configuration: { source: [{ name: '00-master' }] } } },
    },
    says: /made without 99-master-sno-relocatable/,
  },
  {
    what: 'a pool that is being updated',
    api: { pool: conditions(['Updated', 'False'], ['Degraded', 'False']) },
    says: /Updated=False, Degraded=False/,
  },
  {
    what: 'a degraded pool',
    api: { pool: conditions(['Updated', 'True'], ['Degraded', 'True']) },
    says: /Updated=True, Degraded=True/,
  },
  {
    what: 'a pool that says nothing',
    api: { pool: conditions() },
    says: /Updated=unknown, Degraded=unknown/,
  },
  {
    what: 'a pool that does not say whether it is degraded',
    api: { pool: conditions(['Updated', 'True']) },
    says: /Updated=True, Degraded=unknown/,
  },
  { what: 'no pool', api: { pool: notFound() }, says: /no MachineConfigPool master/ },
  {
    what: 'a worker',
    api: { nodes: [...said.nodes, { metadata: { name: 'worker-1' } }] },
    says: /there are other Nodes: worker-1/,
  },
  {
    what: 'a Node of another name',
    api: { nodes: [{ metadata: { name: 'edge-1' } }] },
    says: /there are other Nodes: edge-1.*the API has no Node edge-0/s,
    checks: 2,
  },
  {
    what: 'a Node with the address of an adapter',
    api: {
      nodes: [
        {
          metadata: { name: 'edge-0', annotations: steadyDaemon },
          status: { addresses: [{ type: 'InternalIP', address: '198.51.100.4' }] },
        },
      ],
    },
    says: /InternalIP of the Node edge-0: expected 192\.0\.2\.10.*found 198\.51\.100\.4/s,
  },
  {
    what: 'a Node with another address besides',
    api: {
      nodes: [
        {
          metadata: { name: 'edge-0', annotations: steadyDaemon },
          status: {
            addresses: [NODE.address, '198.51.100.4'].map((address) => ({
              type: 'InternalIP',
              address,
            })),
          },
        },
      ],
    },
    says: /InternalIP of the Node edge-0: .*found 192\.0\.2\.10, 198\.51\.100\.4/s,
  },
  {
    what: 'a Node without an address',
    api: { nodes: [{ metadata: { name: 'edge-0', annotations: steadyDaemon } }] },
    says: /InternalIP of the Node edge-0: .*found none/,
  },
];

for (const { what, says, host: change, api, checks = 1 } of refusals) {
  t.test(`refused: ${what}`, async (t) => {
    const host = openShiftHost(t);
    await openShiftApi(t, host, api);
    change?.(host);
    const found = await refusedWithoutChange(t, host, says);
    t.ok(found.length <= checks, found.join());
  });
}

t.test('all faults at once', async (t) => {
  const host = openShiftHost(t);
  await openShiftApi(t, host, { pool: notFound(), nodes: [] });
  host.write('/dnsmasq', 'failed');
  host.write('/etc/resolv.conf', '');
  const says = /no MachineConfigPool.*resolv\.conf.*dnsmasq.*no Node edge-0/s;
  await refusedWithoutChange(t, host, says);
});

t.test('no kubeconfig of the operator', async (t) => {
  const host = openShiftHost(t);
  await openShiftApi(t, host);
  host.remove(LOCAL_KUBECONFIG);
  t.not((await prepareSaying(host)).code, 0);
  t.notOk(host.has('/etc/sno-agents/factory.json'));
});
