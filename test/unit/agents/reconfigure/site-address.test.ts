/** The address that a node gets at its site, by the families of its cluster. */
import t from 'tap';
import { arrive } from '../../../../agents/reconfigure/arrive.ts';
import { startAtSite } from '../../../../agents/reconfigure/start.ts';
import { identityChange } from '../../../../lib/change/identity/request.ts';
import { saveRenderInput } from '../../../../lib/render/render-input.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';
import { input } from '../../render/rendered-host.ts';
import { accepted, checked, factoryHost, INTERNAL, insert, SITE } from './site-host.ts';

const entry = (ifname: string, local: string, prefixlen: number, more: object = {}) => ({
  ifname,
  addr_info: [{ local, prefixlen, scope: 'global', ...more }],
});
const leased = { dynamic: true, valid_life_time: 3600 };
const BRIDGE = [entry('br-node', INTERNAL, 32), entry('br-node', '2001:db8::10', 128)];
const IPV4 = entry('eno1', '198.51.100.20', 24);
const DHCP = entry('eno1', 'fd00:77::10', 128, leased);
const BY_ROUTER = entry('eno1', 'fd00:77::5054:ff:fe00:a', 64, leased);

for (const [what, nodeIps, addresses, found] of [
  [
    'IPv4 first',
    [INTERNAL, '2001:db8::10'],
    [IPV4, BY_ROUTER, DHCP],
    ['198.51.100.20', 'fd00:77::10'],
  ],
  ['IPv6 first', ['2001:db8::10', INTERNAL], [IPV4, DHCP], ['fd00:77::10', '198.51.100.20']],
  ['IPv6 alone', ['2001:db8::10'], [IPV4, DHCP], ['fd00:77::10']],
  ['one family is missing', ['2001:db8::10', INTERNAL], [IPV4], /exactly one address.*found 198/],
  [
    'two that are as good',
    ['2001:db8::10'],
    [DHCP, entry('eno1', 'fd00:77::11', 128, leased)],
    /found fd00:77::10, fd00:77::11/,
  ],
] as const) {
  t.test(`nodeAddress: site, a cluster of ${what}`, async (t) => {
    const host = await factoryHost(t);
    const [first, ...rest] = nodeIps;
    const ips: [string] | [string, string] = rest[0] === undefined ? [first] : [first, rest[0]];
    await saveRenderInput(host.paths, { ...input, host: { ...input.host, nodeIps: ips } });
    const networks = 'nodeAddress: site\nmachine_networks: [198.51.100.0/24, "fd00:77::/64"]\n';
    await insert(host, { config: checked(SITE + networks) });
    const arrival = await arrive(host.paths, AbortSignal.timeout(60_000));
    if (arrival.kind !== 'request') throw new Error(arrival.note);
    const { run } = await accepted(host, arrival.request);
    const all = [...BRIDGE, ...addresses];
    host.programs.give('ip', `cat <<'END'\n${JSON.stringify(all)}\nEND`);
    host.programs.give('systemctl', 'exit 0');
    const error = await thrownBy(run(startAtSite));
    if (found instanceof RegExp) t.match(error, { code: 'address-missing', message: found });
    else t.strictSame((await identityChange.read(host.paths))?.to.nodeIps, found);
  });
}
