import { isIP } from 'node:net';
import { at, entriesOf, type Misfit, noMapping, type Path } from './misfit.ts';
import type { Interface } from './references.ts';
import { isOff, isOn, isWhole, numberIn } from './values.ts';

/** Between keys of one interface: what nmstate 2.2 refuses although each key is right by itself (`sanitize` and `validate` below rust/src/lib/ifaces). */
type Rule = (one: Interface) => Misfit[];

/** A rule for a section of interfaces: `misfit` reports a fault of one of its keys. */
const of =
  (
    section: readonly string[],
    judge: (
      value: (...keys: readonly string[]) => unknown,
      misfit: (keys: readonly (string | number)[], expected: string, fix: string) => void,
    ) => void,
  ): Rule =>
  ({ entry, path }) => {
    const misfits: Misfit[] = [];
    judge(
      (...keys) => at(entry, ...section, ...keys),
      (keys, expected, fix) =>
        misfits.push({ path: [...path, ...section, ...keys], expected, fix }),
    );
    return misfits;
  };

/** nmstate's name of each mode, by its number in the kernel. */
export const BOND_MODES = [
  ...['balance-rr', 'active-backup', 'balance-xor', 'broadcast', '802.3ad', 'balance-tlb'],
  'balance-alb',
];

/** The mode as a word; undefined if it is none. */
export function bondMode(mode: unknown): string | undefined {
  const text = typeof mode === 'string' || typeof mode === 'number' ? `${mode}` : '';
  if (text === 'lacp') return '802.3ad';
  return BOND_MODES.includes(text) ? text : BOND_MODES[text === '' ? -1 : Number(text)];
}

/** nmstate tells an option that is not set as an empty one. */
const isEmpty = (option: unknown): boolean =>
  option === undefined || option === '' || (Array.isArray(option) && option.length === 0);

const ofBond = (section: string) =>
  of([section], (value, misfit) => {
    const mode = bondMode(value('mode'));
    const options = (name: string) => value('options', name);
    const interval = numberIn(options('arp_interval')) ?? 0;
    const wrong = (name: string, expected: string, fix: string) => {
      if (options(name) !== undefined) misfit(['options', name], expected, fix);
    };
    if (mode !== '802.3ad') {
      for (const name of ['lacp_rate', 'lacp_active']) {
        wrong(name, 'no such option without mode 802.3ad', 'Remove it, or write mode: 802.3ad.');
      }
    }
    if (interval > 0 && ['802.3ad', 'balance-tlb', 'balance-alb'].includes(mode ?? '')) {
      wrong('arp_interval', `no such option with mode ${mode}`, 'Use miimon instead.');
    }
    if (interval > 0 && (numberIn(options('miimon')) ?? 0) > 0) {
      wrong('arp_interval', 'either miimon or arp_interval', 'Remove one of the two.');
    }
    const targets = ['arp_ip_target', 'ns_ip6_target'];
    if (interval > 0 && targets.every((name) => isEmpty(options(name)))) {
      wrong('arp_interval', 'arp_ip_target beside it', 'Set arp_ip_target, or use miimon instead.');
    }
    if (!['active-backup', 'balance-tlb', 'balance-alb'].includes(mode ?? '')) {
      wrong(
        'primary',
        `no such option with mode ${mode}`,
        'Remove it, or write mode: active-backup.',
      );
    }
    if (interval === 0 && options('arp_interval') !== undefined) {
      for (const name of targets) {
        if (isEmpty(options(name))) continue;
        wrong(name, 'no such option without arp_interval', 'Set arp_interval above 0.');
      }
    }
    if (/^01:00:5e/i.test(`${options('ad_actor_system')}`)) {
      wrong('ad_actor_system', 'no multicast address', 'Choose another address.');
    }
    for (const name of ['balance-slb', 'balance_slb']) {
      const hash = `${options('xmit_hash_policy')}`;
      if (isOn(options(name)) && !(mode === 'balance-xor' && /^(vlan\+srcmac|5)$/.test(hash))) {
        const fix = 'Write mode: balance-xor and xmit_hash_policy: vlan+srcmac, or remove it.';
        wrong(name, 'false without xmit_hash_policy vlan+srcmac', fix);
      }
    }
  });

/** Each tag of a trunk once, and none with an access port. */
function portVlans(list: string): Rule {
  return ({ entry, path }) =>
    entriesOf(at(entry, 'bridge', list), ['bridge', list]).flatMap(
      ({ entry: port, path: below }) => {
        const place = [...path, ...below, 'vlan'];
        const vlan = (name: string) => at(port, 'vlan', name);
        const tags = vlan('trunk-tags');
        const isTrunk = vlan('mode') === 'trunk';
        const misfits: Misfit[] = trunkMisfits(tags, [...place, 'trunk-tags']);
        const wrong = (key: string, expected: string, fix: string) =>
          misfits.push({ path: [...place, key], expected, fix });
        if (isTrunk && tags === undefined) {
          wrong('trunk-tags', 'a list of tags for mode trunk', 'Write it as [{id: 100}].');
        }
        if (isTrunk && (numberIn(vlan('tag')) ?? 0) !== 0 && !isOn(vlan('enable-native'))) {
          wrong('tag', 'no such key for a trunk', 'Add enable-native: true, or remove it.');
        }
        if (vlan('mode') !== 'access') return misfits;
        if (isOn(vlan('enable-native'))) {
          wrong('enable-native', 'false with mode access', 'Remove it.');
        }
        if (Array.isArray(tags) && tags.length > 0) {
          wrong('trunk-tags', 'no such key with mode access', 'Remove it, or write mode: trunk.');
        }
        return misfits;
      },
    );
}

/** Each tag in one entry. */
function trunkMisfits(tags: unknown, list: Path): Misfit[] {
  const seen: { from: number; to: number }[] = [];
  return entriesOf(tags, list).flatMap(({ entry, path }): Misfit[] => {
    const single = numberIn(at(entry, 'id'));
    const from = single ?? numberIn(at(entry, 'id-range', 'min'));
    const to = single ?? numberIn(at(entry, 'id-range', 'max'));
    if (from === undefined || to === undefined) return [];
    if (from > to) {
      const expected = 'a range whose max is not below its min';
      return [{ path, expected, fix: 'Exchange min and max.' }];
    }
    const isTwice = seen.some((other) => from <= other.to && other.from <= to);
    seen.push({ from, to });
    return isTwice ? [{ path, expected: 'each tag once', fix: 'Remove one of the two.' }] : [];
  });
}

const withoutAddress = (type: string, why: string): Rule =>
  of([], (value, misfit) => {
    if (value('type') !== type) return;
    for (const family of ['ipv4', 'ipv6']) {
      if (isOn(value(family, 'enabled'))) misfit([family], `no addresses on ${why}`, 'Remove it.');
    }
  });

/** Of types that are nothing without it, and have no rule of their own for that. */
const OWN_SECTIONS: Readonly<Record<string, string>> = {
  ...{ hsr: 'hsr', 'ip-tunnel': 'ip-tunnel', ipsec: 'libreswan', ipvlan: 'ipvlan' },
  ...{ 'mac-vlan': 'mac-vlan', 'mac-vtap': 'mac-vtap', macsec: 'macsec', vxlan: 'vxlan' },
};

const RULES: readonly Rule[] = [
  ofBond('link-aggregation'),
  ofBond('bond'),
  portVlans('port'),
  portVlans('ports'),
  of(['vlan'], (value, misfit) => {
    for (const [map, side] of [
      ['ingress-qos-map', 'from'],
      ['egress-qos-map', 'to'],
    ] as const) {
      for (const { entry, path } of entriesOf(value(map), [map])) {
        const priority = numberIn(at(entry, side));
        if (priority === undefined || priority <= 7) continue;
        misfit([...path, side], 'a priority from 0 to 7', 'Choose one of these.');
      }
    }
  }),
  of([], (value, misfit) => {
    const fix = 'Write it as vrf: {route-table-id: 100, port: [eno2]}.';
    if (value('type') === 'vrf' && value('vrf', 'route-table-id') === undefined) {
      misfit(['vrf', 'route-table-id'], 'the table of its routes', fix);
    }
    if (value('type') === 'veth' && value('veth') === undefined) {
      misfit(['veth'], 'a mapping with peer', 'Write it as veth: {peer: veth1}.');
    }
    if (value('type') === 'ovs-bridge' && (value('mac-address') ?? '') !== '') {
      misfit(
        ['mac-address'],
        'no such key of an Open vSwitch bridge',
        'Set it on its ovs-interface.',
      );
    }
    if (['ovs-bridge', 'ipsec'].includes(`${value('type')}`) && value('dispatch') !== undefined) {
      misfit(['dispatch'], `no such key with type ${value('type')}`, 'Remove it.');
    }
  }),
  // Without its section nmstate would take the interface for one that the host has.
  ({ entry, path }) => {
    const section = OWN_SECTIONS[`${entry.type}`];
    return section === undefined || entry[section] !== undefined
      ? []
      : [noMapping([...path, section])];
  },
  ({ entry, path }) => {
    const options = ['bridge', 'options', 'vlan-default-pvid'];
    const ports = ['port', 'ports'].flatMap((list) => entriesOf(at(entry, 'bridge', list), []));
    const isFiltering = ports.some(
      ({ entry: port }) => Object.keys(Object(at(port, 'vlan'))).length > 0,
    );
    if (isFiltering || (numberIn(at(entry, ...options)) ?? 1) === 1) return [];
    const expected = 'no such key without vlan at a port';
    return [{ path: [...path, ...options], expected, fix: 'Remove it, or add vlan to the ports.' }];
  },
  ...['mac-vlan', 'mac-vtap'].map((section) =>
    of([section], (value, misfit) => {
      for (const name of ['promiscuous', 'accept-all-mac']) {
        if (isOff(value(name)) && value('mode') !== 'passthru') {
          misfit([name], 'true, except with mode passthru', 'Remove it.');
        }
      }
    }),
  ),
  of(['macsec'], (value, misfit) => {
    const [key, name] = [value('mka-cak'), value('mka-ckn')];
    const fix = 'Set both as hexadecimal digits, or none of the two.';
    if ((key === undefined) !== (name === undefined)) {
      misfit([], 'mka-cak and mka-ckn, or none of the two', fix);
    }
    if (typeof key === 'string' && key.length !== 32) misfit([], 'an mka-cak of 32 digits', fix);
    if (typeof name === 'string' && (name.length % 2 === 1 || !isWhole(name.length, 2, 64))) {
      misfit(['mka-ckn'], 'an even number of digits, from 2 to 64', fix);
    }
  }),
  of(['ipvlan'], (value, misfit) => {
    if (isOn(value('private')) && isOn(value('vepa'))) {
      misfit(['vepa'], 'either private or vepa', 'Remove one of the two.');
    }
  }),
  of(['hsr'], (value, misfit) => {
    if (value('protocol') === 'prp' && value('interlink') !== undefined) {
      misfit(['interlink'], 'no such key with protocol prp', 'Remove it.');
    }
  }),
  of(['bridge', 'options'], (value, misfit) => {
    const [long, short] = [value('group-forward-mask'), value('group-fwd-mask')];
    if (long !== undefined && short !== undefined && numberIn(long) !== numberIn(short)) {
      misfit(['group-fwd-mask'], 'the same as group-forward-mask', 'Remove one of the two.');
    }
  }),
  of(['ethernet', 'sr-iov'], (value, misfit) => {
    const total = numberIn(value('total-vfs'));
    const seen = new Set<number>();
    for (const { entry, path } of entriesOf(value('vfs'), ['vfs'])) {
      const id = numberIn(at(entry, 'id'));
      if (id === undefined) continue;
      if (seen.has(id)) misfit([...path, 'id'], 'each function once', 'Remove one of the two.');
      else if (total !== undefined && id >= total) {
        const expected = `a number below total-vfs (${total})`;
        misfit([...path, 'id'], expected, 'Functions are counted from 0.');
      }
      seen.add(id);
    }
  }),
  of(['ip-tunnel'], (value, misfit) => {
    const family = { ipip: 4, sit: 4, ip6ip6: 6, ipip6: 6 }[`${value('mode')}`];
    for (const end of ['local', 'remote']) {
      const found = isIP(`${value(end)}`);
      if (family === undefined || found === 0 || found === family) continue;
      const expected = `an IPv${family} address for mode ${value('mode')}`;
      misfit([end], expected, 'Change the address or the mode.');
    }
  }),
  withoutAddress('ovs-bridge', 'a bridge of Open vSwitch: its ovs-interface has them'),
];

export const sectionMisfits: Rule = (one) => RULES.flatMap((rule) => rule(one));
