/** The network of a site on OpenShift: the adapter, and the bridge of the pod network that is made of it. */
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import t from 'tap';
import { siteNetworkOnOpenShift } from '../../../../agents/reconfigure/openshift/network.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';
import { waitsForEachEffect } from '../../engine/steps/killed-at-any-moment.ts';
import type { TestHost } from '../host/host.ts';
import { ofUnits } from './openshift-disk.ts';
import { DHCP_SITE, openShiftArrived, SITE_ADDRESS, STATIC_SITE } from './openshift-site.ts';
import { INTERNAL, STATE } from './site-host.ts';

/** What changes the network, in its order. */
const ofNetwork = (host: TestHost) =>
  host.programs
    .calls()
    .filter((call) => /^(nmcli .*delete|ovs-vsctl|nmstatectl|systemctl restart)/.test(call))
    .map((call) => call.replaceAll(host.root, ''));

t.test('network: out of the bridge, tried, kept, and the bridge made of it again', async (t) => {
  const { host, run, holds } = await openShiftArrived(t);
  host.write('/bridge', 'of the factory');
  host.write('/run/configure-ovs-boot-done');
  for (const name of ['primary-ip', 'ipv4', 'ipv6'])
    host.write(`/run/nodeip-configuration/${name}`, 'of the factory');
  // Of a bond; and of a person.
  const own = ['uuid-1:br-exam', 'uuid-2:my-br-ex', 'uuid-3:br-ex:1', 'uuid-4:ovs-if-br-ex 2'];
  const more = ['uuid-eno1-slave-ovs-clone:eno1-slave-ovs-clone', ...own];
  host.write('/profiles', `${host.read('/profiles')}${more.join('\n')}\n`);
  t.notOk(await holds(siteNetworkOnOpenShift));
  await waitsForEachEffect(t, async () =>
    t.strictSame(await run(siteNetworkOnOpenShift), { kind: 'done', note: SITE_ADDRESS }),
  );
  t.ok(await holds(siteNetworkOnOpenShift));
  t.same(ofNetwork(host), [
    ...['br-ex', 'ovs-port-phys0', 'ovs-if-phys0', 'ovs-if-br-ex', 'eno1-slave-ovs-clone'].map(
      (name) => `nmcli --wait 30 connection delete uuid uuid-${name}`,
    ),
    'ovs-vsctl --timeout=30 --if-exists del-br br-ex',
    'nmstatectl rollback',
    `nmstatectl apply --no-commit --memory-only --timeout=180 ${STATE}/network.yml`,
    'nmstatectl commit',
    `nmstatectl apply ${STATE}/network.yml`,
    'systemctl restart nodeip-configuration.service',
    'systemctl restart ovs-configuration.service',
  ]);
  t.equal(host.read('/run/nodeip-configuration/primary-ip'), `${SITE_ADDRESS}\n`, 'chosen anew');
  for (const name of ['ipv4', 'ipv6'])
    t.notOk(host.has(`/run/nodeip-configuration/${name}`), `${name} is not that of the factory`);
  t.match(host.read('/profiles'), /uuid-br-node:br-node/, 'the internal address stays');
  for (const profile of own)
    t.match(host.read('/profiles'), `${profile}\n`, 'what is not of the bridge, too');
});

t.test(
  'network: one by DHCP stays as the boot has made it, or is made once it has a route',
  async (t) => {
    const { host, run, holds } = await openShiftArrived(t, { config: DHCP_SITE });
    t.notOk(await holds(siteNetworkOnOpenShift), 'no bridge yet');
    t.match(await run(siteNetworkOnOpenShift), { kind: 'done', note: SITE_ADDRESS });
    t.same(ofNetwork(host), [
      'systemctl restart nodeip-configuration.service',
      'systemctl restart ovs-configuration.service',
    ]);
    t.ok(await holds(siteNetworkOnOpenShift));
    t.match(await run(siteNetworkOnOpenShift), { kind: 'done' });
    t.equal(ofNetwork(host).length, 2, 'it is there');
  },
);

t.test('network: the bridge is made of the adapter also while the old one is seen', async (t) => {
  const { host, run } = await openShiftArrived(t);
  host.write('/bridge', 'of the factory');
  host.programs.give('ovs-vsctl', 'true');
  t.match(await run(siteNetworkOnOpenShift), { kind: 'done' });
  t.same(ofNetwork(host).slice(-2), [
    'systemctl restart nodeip-configuration.service',
    'systemctl restart ovs-configuration.service',
  ]);
});

/** Also on the bridge, as the dispatcher puts it there. */
const INTERNAL_ONLY = ['br-node', 'br-ex'].map((ifname) => ({
  ifname,
  addr_info: [{ local: INTERNAL, prefixlen: 32, scope: 'global' }],
}));

for (const [name, more, prepare, code, says] of [
  [
    'no cable',
    '',
    (host: TestHost) => host.write('/sys/class/net/eno1/carrier', '0\n'),
    'site-link',
    /^no link on eno1/,
  ],
  [
    'no default route',
    '',
    (host: TestHost) => {
      host.write('/no-route');
      host.write('/no-stop');
    },
    'site-network',
    /bridge cannot be made.*found nodeip-configuration\.service: command.*exit code 1.*gateway/s,
  ],
  [
    'a bridge that has only the internal address',
    '',
    (host: TestHost) => host.programs.give('ip', `echo '${JSON.stringify(INTERNAL_ONLY)}'`),
    'site-network',
    /br-ex has no address of the site/,
  ],
  [
    'name servers of another network',
    'dns:\n  servers: [203.0.113.53]\n',
    () => undefined,
    'site-check',
    /no-stub-resolv\.conf does not name 203\.0\.113\.53/,
  ],
  [
    'a gateway that answers on the adapter, but not on the bridge',
    'siteChecks:\n  - ping: 198.51.100.1\n',
    (host: TestHost) => host.programs.give('ping', '[ ! -e "$ROOT/bridge" ]'),
    'site-check',
    /no answer to ping from 198\.51\.100\.1/,
  ],
] as const) {
  t.test(`network: ${name}`, async (t) => {
    const { host, context, holds } = await openShiftArrived(t, { config: STATIC_SITE + more });
    prepare(host);
    await waitsForEachEffect(t, async () => {
      const failed = siteNetworkOnOpenShift.run(context, host.progress(undefined, 10));
      t.match(await thrownBy(failed), { kind: 'fatal', code, message: says });
    });
    t.notOk(await holds(siteNetworkOnOpenShift));
    if (name === 'no cable') t.same(ofNetwork(host), [], 'the bridge is as it was');
    if (name === 'no default route') {
      t.ok(ofUnits(host).includes('stop nodeip-configuration.service'), 'it waits no longer');
    }
  });
}

t.test('network: a unit has the two minutes that it may need, and not for ever', async (t) => {
  const { host, run } = await openShiftArrived(t);
  const hangs = '[ "$*" = "restart nodeip-configuration.service" ] && exec sleep 20';
  host.programs.unless('systemctl', hangs);
  const { setTimeout: pause } = timers;
  // What ends something after more than two minutes does so at once, and what does so earlier never does.
  const scaled = (ms: number, ...more: unknown[]) =>
    Reflect.apply(pause, undefined, [ms > 120_000 && ms < 200_000 ? 1 : ms * 1000, ...more]);
  t.teardown(() => syncBuiltinESMExports());
  t.capture(timers, 'setTimeout', scaled);
  syncBuiltinESMExports();
  const failure = await thrownBy(run(siteNetworkOnOpenShift));
  t.match(failure, { code: 'site-network', message: /nodeip-configuration.*deadline exceeded/s });
});
