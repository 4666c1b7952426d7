import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { parse, stringify } from 'yaml';
import { sno } from './run-sno.ts';

const good = {
  metadata: { name: 'sno' },
  baseDomain: 'factory.test',
  platform: { none: {} },
  controlPlane: { replicas: 1 },
  compute: [{ name: 'worker', replicas: 0 }],
  networking: { networkType: 'OVNKubernetes', machineNetwork: [{ cidr: '192.168.126.0/24' }] },
  pullSecret: '{"auths":{"secret":{}}}',
};

/** A folder as `openshift-install create manifests` leaves it. */
const folder = (t: Test, config: object | string = good): string =>
  t.testdir({
    manifests: {
      'cluster-config.yaml': stringify({
        kind: 'ConfigMap',
        data: { 'install-config': typeof config === 'string' ? config : stringify(config) },
      }),
    },
  });

const create = (dir: string, address = '192.168.126.10', name = 'edge-0') =>
  sno([
    ...['create', 'relocatable-manifests', '--dir', dir],
    ...['--address', address, '--node-name', name],
  ]);

t.test('a MachineConfig beside the manifests of the installer', async (t) => {
  const dir = folder(t);
  t.match(await create(dir), { code: 0, out: /99-master-sno-relocatable\.yaml/ });
  const path = join(dir, 'openshift/99-master-sno-relocatable.yaml');
  const text = readFileSync(path, 'utf8');
  t.match(parse(text), {
    apiVersion: 'machineconfiguration.openshift.io/v1',
    kind: 'MachineConfig',
    metadata: {
      name: '99-master-sno-relocatable',
      labels: { 'machineconfiguration.openshift.io/role': 'master' },
    },
    spec: { config: { ignition: { version: '3.2.0' } } },
  });
  t.notMatch(text, /directories|links/, 'the daemon refuses changes of them later');
  t.match(await create(dir), { code: 0 }, 'again');
  t.equal(readFileSync(path, 'utf8'), text);
});

const refused: readonly (readonly [what: string, config: object, says: RegExp])[] = [
  ['a platform', { platform: { baremetal: {} } }, /platform: expected none/],
  ['three nodes', { controlPlane: { replicas: 3 } }, /controlPlane\.replicas: expected 1, found 3/],
  ['workers', { compute: [{ replicas: 2 }] }, /compute: expected no workers.* found 2/],
  [
    'another pod network',
    { networking: { ...good.networking, networkType: 'Calico' } },
    /networkType: expected OVNKubernetes, found Calico/,
  ],
  ['a name with a line break', { metadata: { name: 'sno\nserver=1' } }, /is no name of a cluster/],
  ['a domain with a line break', { baseDomain: 'a\naddress=/b/1.2.3.4' }, /is no domain/],
];

for (const [what, config, says] of refused) {
  t.test(`refused: ${what}`, async (t) => {
    const dir = folder(t, { ...good, ...config });
    t.match(await create(dir), { code: 2, err: says });
    t.same(readdirSync(dir), ['manifests'], 'nothing was written');
  });
}

for (const [address, name, says] of [
  ['192.168.127.10', 'edge-0', /--address: expected .* in 192\.168\.126\.0\/24/],
  ['fd00::1', 'edge-0', /--address/],
  ['192.168.126.10\n', 'edge-0', /--address/],
  ['192.168.126.10/24', 'edge-0', /--address/],
  ['192.168.126.10', 'localhost', /--node-name/],
  ['192.168.126.10', 'edge-0" "A=b', /--node-name/],
] as const) {
  t.test(`refused: ${JSON.stringify([address, name])}`, async (t) => {
    const dir = folder(t);
    t.match(await create(dir, address, name), { code: 2, err: says });
    t.same(readdirSync(dir), ['manifests'], 'nothing was written');
  });
}

t.test('all faults at once', async (t) => {
  const dir = folder(t, { ...good, platform: { aws: {} }, controlPlane: { replicas: 3 } });
  t.match(await create(dir, 'x', 'y z'), { code: 2, err: /4 errors; nothing was written/ });
});

t.test('no folder of the installer, or a damaged one', async (t) => {
  const fix = /openshift-install create manifests/;
  t.match(await create(t.testdir({})), { code: 2, err: fix });
  const damaged = await create(folder(t, 'pullSecret: "secret\nmore: {'));
  t.match(damaged, { code: 2, err: fix });
  t.notMatch(damaged.err, /secret"/, 'the file has the pull secret');
});
