import { dirname } from 'node:path';
import { execa } from 'execa';
import t, { type Test } from 'tap';
import { runAddress } from '../../../../agents/upkeep/address/main.ts';
import { addressEvents } from '../../../../lib/change/identity/address-events.ts';
import { clusterSchema } from '../../../../lib/config/cluster/cluster.ts';
import { readRenderInput, saveRenderInput } from '../../../../lib/render/render-input.ts';
import { input } from '../../render/rendered-host.ts';
import { cluster } from '../host/cluster.ts';
import { testHost } from '../host/host.ts';
import { giveAddresses } from '../host/network.ts';

const CLUSTER = '/etc/sno-agents/cluster.json';
const METRICS = '/var/lib/sno-agents/metrics/sno-address.prom';

const OTHER_INTERFACE = JSON.stringify([
  { ifname: 'eth1', addr_info: [{ local: '192.0.2.10', prefixlen: 24, scope: 'global' }] },
]);

async function installed(t: Test) {
  const host = testHost(t, { settings: {} });
  host.write(CLUSTER, JSON.stringify(cluster));
  host.write('/etc/sno-agents/settings.json', JSON.stringify({ addressStableMs: 1 }));
  await saveRenderInput(host.paths, input);
  giveAddresses(host, '192.0.2.10/24');
  host.programs.give('systemctl', '');
  const errors: string[] = [];
  t.capture(process.stderr, 'write', (text: string) => errors.push(text) > 0);
  const run = async (...args: string[]) => {
    const printed: string[] = [];
    const code = await runAddress(host.paths, args, {
      write: (text) => void printed.push(text),
      isJournal: false,
    });
    return { code, printed: printed.join(''), errors: errors.splice(0).join('') };
  };
  return { host, run };
}

t.test(
  'it is needed until it has said that all is well, and when something has moved',
  async (t) => {
    const { host, run } = await installed(t);
    const isNeeded = async () => (await run('needed')).code === 0;
    t.equal(await isNeeded(), false, 'during the installation');
    host.write('/var/lib/sno-agents/record.json', '{"cluster":"edge","completed":"2030-01-01"}');
    t.equal(await isNeeded(), true, 'the first time in a boot');
    t.equal((await run('run')).code, 0);
    t.equal(await isNeeded(), false);
    t.match(
      host.read(METRICS),
      'sno_address_moved{registered="192.0.2.10",found="192.0.2.10"} 0\n',
    );

    giveAddresses(host, '192.0.2.77/24');
    t.equal(await isNeeded(), true);
    t.match(await run('run'), {
      code: 4,
      printed: /moved; expected 192\.0\.2\.10; found 192\.0\.2\.77/,
    });
    t.match(
      host.read(METRICS),
      'sno_address_moved{registered="192.0.2.10",found="192.0.2.77"} 1\n',
    );
    t.match(
      (await run('status')).printed,
      /of the Node: 192\.0\.2\.10; the host has 192\.0\.2\.77\n/,
    );
    t.match(JSON.parse((await run('status', '--json')).printed), {
      onAddressChange: 'stop',
      interfaces: { '192.0.2.10': 'eth0' },
      last: { registered: '192.0.2.10', found: '192.0.2.77', isMoved: true },
    });
    t.match(host.read('/run/sno-agents/console.issue'), /FAILED: .*address/);

    giveAddresses(host, '192.0.2.10/24');
    t.equal(await isNeeded(), true, 'what it has said is no longer so');
    t.equal((await run('run')).code, 0);
    t.equal(await isNeeded(), false);
    t.match(
      (await run('status')).printed,
      /^addresses of the Node: 192\.0\.2\.10\nwhen its address moves, this host changes nothing /m,
    );
    host.programs.give('ip', `echo '${OTHER_INTERFACE}'`);
    t.equal(await isNeeded(), true, 'on another interface');
    t.equal((await run('run')).code, 0);
    t.equal(await isNeeded(), false, 'each run looks again');
    giveAddresses(host, '192.0.2.10/24');
    host.write(CLUSTER, 'damaged');
    t.equal(await isNeeded(), true, 'the run says what is wrong');
  },
);

t.test('set: for both descriptions of the cluster, and it looks at once', async (t) => {
  const { host, run } = await installed(t);
  const modes = async () => [
    clusterSchema.parse(JSON.parse(host.read(CLUSTER))).onAddressChange,
    (await readRenderInput(host.paths))?.cluster.onAddressChange,
  ];
  t.match(await run('status'), { printed: /\(onAddressChange: stop\)\n$/ });
  t.match(JSON.parse((await run('status', '--json')).printed), { interfaces: {}, last: null });
  host.programs.give('systemctl', `cp "$ROOT${CLUSTER}" "$ROOT/at-start.json"`);
  for (const mode of ['follow', 'stop']) {
    t.match(await run('set', mode), { code: 0, printed: `onAddressChange is ${mode}.\n` });
    t.same(await modes(), [mode, mode]);
    t.match(JSON.parse(host.read('/at-start.json')), { onAddressChange: mode });
    t.equal(host.mode(CLUSTER), 0o600);
    t.equal(host.mode('/etc/sno-agents/render-input.json'), 0o600);
    const does = mode === 'follow' ? 'follows' : 'changes nothing';
    t.match(await run('status'), { printed: `this host ${does} (onAddressChange: ${mode})` });
  }
  const started = 'systemctl start --no-block sno-address.service';
  t.same(host.programs.calls('systemctl'), [started, started]);

  t.match(await run('set', 'keep'), { code: 2, errors: /expected stop or follow; found keep/ });
  host.write('/var/lib/sno-agents/sno-identity/request.json', '{}');
  t.match(await run('set', 'follow'), { code: 2, errors: /is getting another name/ });
  host.remove('/var/lib/sno-agents/sno-identity/request.json');
  t.same(await modes(), ['stop', 'stop']);
});

t.test('a host that cannot follow does not take the setting', async (t) => {
  const { host, run } = await installed(t);
  host.remove('/etc/sno-agents/render-input.json');
  t.match(await run('set', 'follow'), { code: 2, errors: /cannot get another identity/ });
  t.equal(clusterSchema.parse(JSON.parse(host.read(CLUSTER))).onAddressChange, undefined);
});

t.test('the script of NetworkManager has the unit look, for addresses only', async (t) => {
  t.equal(dirname(addressEvents.path), '/etc/NetworkManager/dispatcher.d');
  t.equal(addressEvents.mode, 0o755, 'it is called, and everybody may read what it does');
  const host = testHost(t);
  host.programs.give('systemctl', '');
  host.write('/script', addressEvents.contents, 0o755);
  const events = ['up', 'reapply', 'dhcp4-change', 'dhcp6-change'];
  for (const event of events) await execa(host.at('/script'), ['eth0', event]);
  const started = 'systemctl --no-block start sno-address.service';
  t.same(
    host.programs.calls('systemctl'),
    events.map(() => started),
  );
  for (const event of ['down', 'hostname', 'connectivity-change', '']) {
    await execa(host.at('/script'), ['eth0', event]);
  }
  t.equal(host.programs.calls('systemctl').length, events.length);
});
