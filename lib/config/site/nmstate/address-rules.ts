import { isIP, isIPv6 } from 'node:net';
import { isRecord } from '../../../base/json.ts';
import { numberOf } from '../../../base/network/address.ts';
import { at, entriesOf, listMisfit, type Misfit, noMapping, type Path } from './misfit.ts';
import type { Interface } from './references.ts';
import { isOff, isOn, isWhole, numberIn } from './values.ts';

const FAMILIES = [
  { name: 'ipv4', family: 4, longest: 32, example: '[{ip: 192.168.7.10, prefix-length: 24}]' },
  { name: 'ipv6', family: 6, longest: 128, example: '[{ip: fd00::10, prefix-length: 64}]' },
] as const;

/** The addresses of an interface, and what nmstate 2.2 demands of the keys beside them (rust/src/lib/ip.rs). */
export function nmstateAddressMisfits(one: Interface): Misfit[] {
  return [
    ...FAMILIES.flatMap((each) => ofFamily(one, each)),
    ...ofBoth(one),
    ...ofAutoconf(one),
    ...ofToken(one),
  ];
}

function ofFamily(
  { entry, path }: Interface,
  { name, family, longest, example }: (typeof FAMILIES)[number],
): Misfit[] {
  const below = [...path, name];
  const value = entry[name];
  if (value === undefined) return [];
  if (!isRecord(value)) return [noMapping(below)];
  const fix = `Write it as address: ${example}.`;
  const list = [...below, 'address'];
  return [
    ...listMisfit(value.address, list, fix),
    ...entriesOf(value.address, list).flatMap(({ entry, path }): Misfit[] => {
      if (!isRecord(entry)) return [{ path, expected: 'a mapping with ip and prefix-length', fix }];
      const misfits: Misfit[] = [];
      if (typeof entry.ip !== 'string' || isIP(entry.ip) !== family) {
        misfits.push({ path: [...path, 'ip'], expected: `an IPv${family} address`, fix });
      }
      if (!isWhole(entry['prefix-length'], 0, longest)) {
        const expected = `an integer from 0 to ${longest}`;
        misfits.push({ path: [...path, 'prefix-length'], expected, fix });
      }
      return misfits;
    }),
    ...ofDisabled(value, below),
    ...(family === 4 ? ofMetrics(value, below) : []),
  ];
}

/** nmstate drops the addresses of a family that is off. */
function ofDisabled(value: Record<string, unknown>, below: Path): Misfit[] {
  if (!isOff(value.enabled) || entriesOf(value.address, []).length === 0) return [];
  const fix = 'Write enabled: true, or remove the addresses: nmstate would not set them.';
  return [{ path: [...below, 'enabled'], expected: 'true, since there are addresses', fix }];
}

/** -1 is the default of NetworkManager, which has one metric for both. */
function ofMetrics(value: Record<string, unknown>, below: Path): Misfit[] {
  const metrics = [value['auto-route-metric'], value['prefix-route-metric']].map(numberIn);
  const [auto = -1, prefix = -1] = metrics;
  if (!isOn(value.enabled) || auto === -1 || prefix === -1 || auto === prefix) return [];
  const path = [...below, 'prefix-route-metric'];
  return [{ path, expected: `${auto}, as auto-route-metric is`, fix: 'Set one of the two alone.' }];
}

/** Less is refused by the kernel with IPv6. */
const LEAST_IPV6_MTU = 1280;

function ofBoth({ entry, path }: Interface): Misfit[] {
  const misfits: Misfit[] = [];
  const mtu = numberIn(entry.mtu);
  if (mtu !== undefined && mtu < LEAST_IPV6_MTU && isOn(at(entry, 'ipv6', 'enabled'))) {
    const expected = `at least ${LEAST_IPV6_MTU}, for IPv6`;
    misfits.push({ path: [...path, 'mtu'], expected, fix: 'Set a larger one.' });
  }
  const waited = typeof entry['wait-ip'] === 'string' ? entry['wait-ip'].split('+') : [];
  const off = FAMILIES.find(
    ({ name }) => waited.includes(name) && !isOn(at(entry, name, 'enabled')),
  );
  if (off !== undefined) {
    const expected = `a family of this interface, which has no ${off.name}`;
    misfits.push({
      path: [...path, 'wait-ip'],
      expected,
      fix: `Enable ${off.name}, or remove it.`,
    });
  }
  if (entry.type !== 'loopback') return misfits;
  for (const { name } of FAMILIES) {
    if (isOff(at(entry, name, 'enabled')) && entry.state !== 'absent') {
      const expected = 'true: the loopback interface keeps its addresses';
      misfits.push({ path: [...path, name, 'enabled'], expected, fix: 'Remove it.' });
    }
    for (const key of ['dhcp', 'autoconf']) {
      if (isOn(at(entry, name, 'enabled')) && isOn(at(entry, name, key))) {
        const expected = 'no such key of the loopback interface';
        misfits.push({ path: [...path, name, key], expected, fix: 'Remove it.' });
      }
    }
  }
  return misfits;
}

/** NetworkManager has no such method. */
function ofAutoconf({ entry, path }: Interface): Misfit[] {
  const ipv6 = (key: string) => at(entry, 'ipv6', key);
  if (!isOn(ipv6('enabled')) || !isOn(ipv6('autoconf')) || !isOff(ipv6('dhcp'))) return [];
  const fix = 'Write dhcp: true, or autoconf: false: nmstate has no autoconf without DHCP.';
  return [{ path: [...path, 'ipv6', 'dhcp'], expected: 'true beside autoconf', fix }];
}

/** The last 64 bits of an address that the host makes from a router's prefix. */
function ofToken({ entry, path }: Interface): Misfit[] {
  const token = at(entry, 'ipv6', 'token');
  if (typeof token !== 'string' || token === '') return [];
  const below = [...path, 'ipv6', 'token'];
  if (!isIPv6(token) || token.includes('%') || numberOf(token) >> 64n !== 0n) {
    const expected = 'an IPv6 address of which only the last 64 bits are set';
    return [{ path: below, expected, fix: 'Write it as ::10.' }];
  }
  if (token === '::' || !isOff(at(entry, 'ipv6', 'autoconf'))) return [];
  const fix = 'Write autoconf: true, or remove it.';
  return [{ path: below, expected: 'no token without autoconf', fix }];
}
