import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import type { AddressContext } from '../../../../agents/upkeep/address/context.ts';
import { follow } from '../../../../agents/upkeep/address/follow.ts';
import { readState } from '../../../../agents/upkeep/address/state.ts';
import { type Identity, identityOf } from '../../../../lib/change/identity/identity.ts';
import { identityChange, requestIdentity } from '../../../../lib/change/identity/request.ts';
import type { OnAddressChange } from '../../../../lib/config/cluster/cluster.ts';
import { lockAgent } from '../../../../lib/engine/steps/lock.ts';
import { armTrial } from '../../../../lib/engine/trial/arm.ts';
import { saveRenderInput } from '../../../../lib/render/render-input.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';
import { killedAtAnyMoment } from '../../engine/steps/killed-at-any-moment.ts';
import { input } from '../../render/rendered-host.ts';
import { testHost } from '../host/host.ts';
import { giveAddresses } from '../host/network.ts';

const from = identityOf(input);
const at = (...nodeIps: [string]): Identity => ({ ...from, nodeIps });
const DROP_IN = '/etc/systemd/system/kubelet.service.d/50-sno-identity.conf';
const STATE = '/var/lib/sno-agents/sno-address/state.json';
const STARTED = 'systemctl start --no-block sno-identity.service';

/** An installed host. */
async function movingHost(t: Test, onAddressChange?: OnAddressChange, addressStableMs = 1) {
  const host = testHost(t, { cluster: { onAddressChange }, settings: { addressStableMs } });
  await saveRenderInput(host.paths, input);
  host.write('/etc/sno-agents/cluster.json', JSON.stringify(host.context.cluster));
  host.programs.give('systemctl', '');
  const context: AddressContext = { ...host.context, run: 'this' };
  return {
    host,
    run: (signal?: AbortSignal) => follow.run(context, host.progress(signal)),
    holds: () => follow.holds(context, host.progress()),
  };
}

t.test('a host with its addresses writes down where they are', async (t) => {
  const { host, run, holds } = await movingHost(t, 'follow');
  giveAddresses(host, '192.0.2.10/24');
  t.equal(await holds(), true);
  t.match(await run(), { kind: 'done', note: '192.0.2.10' });
  t.match(await readState(host.paths), {
    interfaces: { '192.0.2.10': 'eth0' },
    last: { registered: '192.0.2.10', found: '192.0.2.10', isMoved: false },
  });
  t.same(host.programs.calls('systemctl'), []);
});

t.test('stop: nothing is changed, and both addresses are said', async (t) => {
  for (const mode of [undefined, 'stop'] as const) {
    const { host, run, holds } = await movingHost(t, mode);
    giveAddresses(host, '192.0.2.77/24');
    t.equal(await holds(), false);
    t.match(await thrownBy(run()), {
      kind: 'fatal',
      code: 'address-moved',
      message:
        /moved; expected 192\.0\.2\.10; found 192\.0\.2\.77\. Give .*"sno-identity change --address 192\.0\.2\.77".*"sno-address set follow"/,
    });
    t.equal(await identityChange.read(host.paths), undefined);
    t.same(host.programs.calls('systemctl'), []);
    t.match(await readState(host.paths), {
      last: { registered: '192.0.2.10', found: '192.0.2.77', isMoved: true },
    });
  }
});

t.test('follow: the change is requested and started, once', async (t) => {
  const { host, run, holds } = await movingHost(t, 'follow');
  giveAddresses(host, '192.0.2.77/24');
  t.match(await run(), { kind: 'done', note: 'address 192.0.2.10 -> 192.0.2.77' });
  t.match(await identityChange.read(host.paths), { from, to: at('192.0.2.77'), isFollowing: true });
  t.same(host.programs.calls('systemctl'), [STARTED]);
  t.equal(await holds(), true);
  // Killed between the two, it starts what it has requested.
  const { id } = (await identityChange.read(host.paths)) ?? {};
  t.match(await run(), { kind: 'done' });
  t.equal((await identityChange.read(host.paths))?.id, id);
  t.same(host.programs.calls('systemctl'), [STARTED, STARTED]);
  const { followed, last } = await readState(host.paths);
  t.equal(followed.length, 1);
  t.same(last, { registered: '192.0.2.77', found: '192.0.2.77', isMoved: false });
  t.equal(host.mode(STATE), 0o600);
});

t.test('follow: interrupted at any moment, it is counted, requested and started', async (t) => {
  await killedAtAnyMoment(t, {
    async prepare() {
      const it = await movingHost(t, 'follow');
      giveAddresses(it.host, '192.0.2.77/24');
      return it;
    },
    run: ({ run }) => run(),
    async allowed({ host }, when) {
      const isRequested = (await identityChange.read(host.paths)) !== undefined;
      const { followed } = await readState(host.paths);
      t.ok(!isRequested || followed.length > 0, `${when}: counted before it is requested`);
      const isStarted = host.programs.calls(STARTED).length > 0;
      t.ok(!isStarted || isRequested, `${when}: requested before it is started`);
    },
    result: async ({ host, holds }) => ({
      to: (await identityChange.read(host.paths))?.to,
      isCounted: (await readState(host.paths)).followed.length > 0,
      isStarted: host.programs.calls(STARTED).length > 0,
      holds: await holds(),
    }),
    least: 10,
    isDurable: true,
  });
});

t.test('the interface that had the address is remembered, whatever its network', async (t) => {
  const { host, run } = await movingHost(t, 'follow');
  const { interfaces, ...others } = await readState(host.paths);
  t.same(interfaces, {});
  host.write(STATE, JSON.stringify({ ...others, interfaces: { '192.0.2.10': 'eth0' } }));
  giveAddresses(host, '198.51.100.7/25');
  t.match(await run(), { kind: 'done', note: /address 192\.0\.2\.10 -> 198\.51\.100\.7; machine/ });
  host.write(STATE, 'damaged');
  t.same(await readState(host.paths), { ...others, interfaces });
});

t.test(
  'a change that a person has asked for is not started while the address is there',
  async (t) => {
    const { host, run } = await movingHost(t, 'follow');
    await requestIdentity(host.paths, { from, to: at('192.0.2.77') });
    giveAddresses(host, '192.0.2.77/24');
    t.match(await run(), { kind: 'done', note: '192.0.2.77' });
    t.same(host.programs.calls('systemctl'), []);
  },
);

t.test('addresses that change while it looks are not followed', async (t) => {
  const { host, run } = await movingHost(t, 'follow');
  const last = (octet: string) =>
    `[{"ifname":"eth0","addr_info":[{"local":"192.0.2.${octet}","prefixlen":24,"scope":"global"}]}]`;
  const moves = 'octet=$(cat "$ROOT/octet" || echo 77); echo 78 > "$ROOT/octet"';
  host.programs.give('ip', `${moves}\necho '${last("'$octet'")}'`);
  t.match(await run(), { kind: 'not-yet', reason: 'the addresses change' });
  t.equal(await identityChange.read(host.paths), undefined);
});

t.test('told to stop while the addresses have to stay, it follows none', async (t) => {
  const { host, run } = await movingHost(t, 'follow', 600_000);
  giveAddresses(host, '192.0.2.77/24');
  const stop = new AbortController();
  const running = run(stop.signal);
  await host.said(/the addresses to stay as they are/);
  stop.abort();
  await t.rejects(running, { name: 'AbortError' });
  t.equal(await identityChange.read(host.paths), undefined);
});

t.test('an address that cannot be the Node’s is not followed', async (t) => {
  const { host, run } = await movingHost(t, 'follow');
  giveAddresses(host, '192.0.2.77/24', '192.0.2.78/24');
  t.match(await thrownBy(run()), {
    code: 'address-moved',
    message: /lost .*found 192\.0\.2\.77\/24 and 192\.0\.2\.78\/24 in the machine network\. Give/,
  });
  const interfaces = { '192.0.2.10': 'eth0' };
  host.write(STATE, JSON.stringify({ schemaVersion: 1, interfaces, followed: [] }));
  const { clusterNetwork, serviceNetwork } = host.context.cluster;
  for (const network of [...clusterNetwork.map(({ cidr }) => cidr), ...serviceNetwork]) {
    giveAddresses(host, network.replace(/\.0\/\d+$/, '.9/24'));
    t.match(await thrownBy(run()), { message: `in the cluster's own network ${network}` });
  }
  t.equal(await identityChange.read(host.paths), undefined);
});

t.test('after three changes within a day it stops', async (t) => {
  const { host, run } = await movingHost(t, 'follow');
  const hours = (count: number) => new Date(Date.now() - count * 3_600_000).toISOString();
  const remember = (...followed: string[]) =>
    host.write(STATE, JSON.stringify({ schemaVersion: 1, interfaces: {}, followed }));
  giveAddresses(host, '192.0.2.77/24');
  // One of them by a clock that was ahead.
  remember(hours(23.99), hours(1), hours(-90));
  t.match(await thrownBy(run()), {
    code: 'address-moved',
    message: /moved again, after 3 changes within a day; .*found 192\.0\.2\.77/,
  });
  t.equal(await identityChange.read(host.paths), undefined);
  const { followed } = await readState(host.paths);
  t.ok(
    followed.every((time) => Date.parse(time) <= Date.now()),
    'from now on, that one becomes older, too',
  );
  remember(hours(24.01), hours(23.99), hours(1));
  t.match(await run(), { kind: 'done' });
  t.equal((await readState(host.paths)).followed.length, 3, 'only those of a day are kept');
});

t.test('what else changes the host ends before', async (t) => {
  const { host, run } = await movingHost(t, 'follow');
  giveAddresses(host, '192.0.2.77/24');
  const table: [path: string, reason: string][] = [
    ['sno-rotate/request.json', 'a rotation of CAs or keys is under way'],
    ['sno-backup-restore/request.json', 'a backup is being restored'],
    ['sno-update/request.json', 'an update is under way'],
  ];
  for (const [path, reason] of table) {
    host.write(`/var/lib/sno-agents/${path}`, '{}');
    t.match(await run(), { kind: 'not-yet', reason });
    host.remove(`/var/lib/sno-agents/${path}`);
  }
  host.write('/var/lib/sno-agents/bin/sno-agents');
  const points = { what: 'another network', id: randomUUID(), deadlineMs: 60_000, bootsCount: 1 };
  const nothing = { files: [], folders: [] };
  await armTrial(host.paths, { ...points, points: nothing }, new AbortController().signal);
  t.match(await run(), { kind: 'not-yet', reason: 'another network is on trial' });
  t.equal(await identityChange.read(host.paths), undefined);
});

t.test('what is requested at the same moment ends before', async (t) => {
  const { host, run } = await movingHost(t, 'follow');
  giveAddresses(host, '192.0.2.77/24');
  const requesting = await lockAgent('change', host.root);
  t.match(await run(), { kind: 'not-yet', reason: /another change is being requested/ });
  requesting[Symbol.dispose]();
  t.equal(await identityChange.read(host.paths), undefined);
  t.same((await readState(host.paths)).followed, [], 'it does not count');
  t.match(await run(), { kind: 'done' });
});

t.test('a change to an address that is lost again is given up', async (t) => {
  const { host, run } = await movingHost(t, 'follow');
  await requestIdentity(host.paths, { from, to: at('192.0.2.77'), isFollowing: true });
  giveAddresses(host, '192.0.2.78/24');
  host.write(DROP_IN, '');
  t.match(await run(), {
    kind: 'not-yet',
    reason: /under way \(address 192\.0\.2\.10 -> 192\.0\.2\.77\)/,
  });
  t.same(host.programs.calls('systemctl'), [], 'it holds the control plane back');
  host.remove(DROP_IN);
  t.match(await run(), { kind: 'done', note: 'address 192.0.2.10 -> 192.0.2.78' });
  t.match(await identityChange.read(host.paths), { from, to: at('192.0.2.78') });
  t.same(host.programs.calls('systemctl'), ['systemctl stop sno-identity.service', STARTED]);

  giveAddresses(host, '192.0.2.10/24');
  t.match(await run(), { kind: 'done', note: 'it is back' });
  t.equal(await identityChange.read(host.paths), undefined);
});

t.test('a change that began while it was given up goes on', async (t) => {
  const { host, run } = await movingHost(t, 'follow');
  await requestIdentity(host.paths, { from, to: at('192.0.2.77'), isFollowing: true });
  giveAddresses(host, '192.0.2.78/24');
  const begins = `[ "$1" = stop ] && mkdir -p "$(dirname "$ROOT${DROP_IN}")" && : > "$ROOT${DROP_IN}"; exit 0`;
  host.programs.give('systemctl', begins);
  t.match(await run(), { kind: 'not-yet', reason: /under way \(address/ });
  t.match(await identityChange.read(host.paths), { to: at('192.0.2.77') });
  t.same(host.programs.calls('systemctl'), ['systemctl stop sno-identity.service', STARTED]);
});

t.test('a change that a person has asked for is theirs, and one with a backup', async (t) => {
  for (const asked of [{}, { isFollowing: true, backup: '20300102T030405Z' } as const]) {
    const { host, run } = await movingHost(t, 'follow');
    await requestIdentity(host.paths, { from, to: at('192.0.2.77'), ...asked });
    giveAddresses(host, '192.0.2.78/24');
    t.match(await run(), { kind: 'not-yet', reason: /under way/ });
    t.match(await identityChange.read(host.paths), { to: at('192.0.2.77') });
    t.same(host.programs.calls('systemctl'), []);
  }
});
