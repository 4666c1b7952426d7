import type { TestHost } from './host.ts';

/** Gives the host these addresses (`192.0.2.10/24`) on one interface, in the output of `ip`. */
export function giveAddresses(host: TestHost, ...addresses: readonly string[]): void {
  const addr_info = addresses.map((address) => {
    const [local = '', length] = address.split('/');
    return { local, prefixlen: Number(length), scope: 'global' };
  });
  const text = JSON.stringify([{ ifname: 'eth0', addr_info }]);
  host.programs.give('ip', `[ "$*" = "-json address show" ] || exit 97\necho '${text}'`);
}
