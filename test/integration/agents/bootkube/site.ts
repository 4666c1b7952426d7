import t from 'tap';
import {
  installerArguments,
  multipathArguments,
} from '../../../../agents/install-to-disk/write-disk.ts';
import { networkCheck } from '../../../../agents/steps/preflight/network.ts';
import { liveIgnition } from '../../../../cli/create/live-ignition.ts';
import { createLaptopAuthorities } from '../../../../lab/certificates/signed-now.ts';
import type { InstallableCluster } from '../../../../lib/config/cluster/cluster.ts';
import type { IgnitionConfig } from '../../../../lib/render/ignition/config.ts';
import { withDropins } from '../../../../lib/render/ignition/entries.ts';
import { validateConfigText } from '../../../../lib/render/ignition/validate.ts';
import { liveUnits } from '../../../../units/live.ts';
import { testHost } from '../../../unit/agents/host/host.ts';
import { input } from '../../../unit/render/rendered-host.ts';
import { siteCluster } from '../../../unit/render/site-cluster.ts';

t.test('kernel arguments and partitions are arguments of coreos-installer', async (t) => {
  t.same(
    installerArguments({
      ...input.cluster.installation,
      coreosInstallerArgs: ['--offline'],
      kernelArguments: ['console=ttyS0', 'nosmt'],
      savePartitions: { labels: ['data*'], indexes: ['-7'] },
    }),
    [
      '--append-karg=console=ttyS0',
      '--append-karg=nosmt',
      '--save-partlabel=data*',
      '--save-partindex=-7',
      '--offline',
    ],
  );
});

t.test('the system on a multipath device gets what it needs to find its root', async (t) => {
  const { installation } = input.cluster;
  const mpath = { mapper: { name: 'mpatha', uuid: 'mpath-3600a098' } };
  const added = ['rd.multipath=default', 'root=/dev/disk/by-label/dm-mpath-root', 'rw'];
  t.same(multipathArguments(mpath, installation), added);
  t.same(multipathArguments({}, installation), [], 'an ordinary disk');
  t.same(multipathArguments({ mapper: { name: 'x', uuid: 'LVM-1' } }, installation), []);
  for (const own of [
    { kernelArguments: ['rd.multipath=1'] },
    { coreosInstallerArgs: ['--append-karg', 'rd.multipath=0'] },
  ]) {
    t.same(multipathArguments(mpath, { ...installation, ...own }), [], "a person's own");
  }
});

async function live(cluster: InstallableCluster): Promise<IgnitionConfig> {
  const authorities = await createLaptopAuthorities();
  const pullSecret = '{"auths":{}}';
  return liveIgnition({
    cluster,
    authorities,
    pullSecret,
    manifests: [],
    deferred: [],
    units: liveUnits,
  });
}

t.test('the live Ignition contains the site configuration', async (t) => {
  const config = await live(siteCluster);
  t.same(validateConfigText(JSON.stringify(config)), []);
  const units = config.systemd?.units ?? [];
  const unit = (name: string) => units.find((each) => each.name === name);
  t.match(unit('sno-network.service'), { enabled: true, contents: /nmstatectl apply/ });
  // NetworkManager answers later than systemd reports it as started.
  t.match(
    unit('sno-network.service')?.contents,
    /ExecStartPre=.*org\.freedesktop\.NetworkManager State/,
  );
  t.match(unit('bootkube.service'), {
    contents: /ExecStart/,
    dropins: [{ name: '10-sno-proxy.conf' }],
  });
  t.same(Object.keys(unit('containerd.service') ?? {}), ['name', 'dropins']);
  const network = config.storage?.files?.find(({ path }) => path.endsWith('/network.yml'));
  t.equal(network?.mode, 0o600);
});

t.test('without a site there is neither', async (t) => {
  const units = (await live(input.cluster)).systemd?.units ?? [];
  t.notOk(units.some(({ name }) => name === 'sno-network.service'));
  const own = units.filter(({ dropins }) => dropins !== undefined).map(({ name }) => name);
  t.same(own, ['reboot.target'], 'the deadline of a restart, which every host has');
});

t.test('drop-ins are added to those of a unit', async (t) => {
  const a = { name: 'a.conf', contents: 'a' };
  const b = { name: 'b.conf', contents: 'b' };
  t.same(
    withDropins(
      [{ name: 'x.service', dropins: [a] }, { name: 'y.service' }],
      [
        { unit: 'x.service', ...b },
        { unit: 'z.service', ...a },
        { unit: 'z.service', ...b },
      ],
    ),
    [
      { name: 'x.service', dropins: [a, b] },
      { name: 'y.service' },
      { name: 'z.service', dropins: [a, b] },
    ],
  );
});

const STATES: readonly (readonly [state: string, result: string, says: RegExp])[] = [
  ['active', 'success', /was applied/],
  ['activating', 'success', /still being applied/],
  ['activating', 'exit-code', /was not applied: sno-network\.service is activating \(exit-code\)/],
  ['failed', 'exit-code', /was not applied: .*journalctl -u sno-network/],
  ['inactive', 'success', /was not applied/],
];
t.test('preflight says whether the network was applied', async (t) => {
  const host = testHost(t);
  const check = (cluster: InstallableCluster) =>
    networkCheck.run({
      ...host.context,
      cluster,
      hostname: 'sno1',
      addresses: [],
      signal: AbortSignal.timeout(120_000),
    });
  t.match(await check(input.cluster), { ok: true, fact: /by the operating system/ });
  t.same(host.programs.calls(), []);
  for (const [state, result, says] of STATES) {
    host.programs.give('systemctl', `echo ActiveState=${state}; echo Result=${result}`);
    const finding = await check(siteCluster);
    t.equal(finding.ok, state === 'active', `${state} ${result}`);
    t.match(finding.ok ? finding.fact : `${finding.problem}. ${finding.fix}`, says);
  }
  t.match(host.programs.calls('systemctl')[0], /^systemctl show .*sno-network\.service/);
});
