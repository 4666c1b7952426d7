/**
 * By what NetworkManager asks for addresses and makes its own: the interface's MAC address. Its
 * defaults depend on the machine id and on a key of the host, which the disk does not
 * share with the live image: a reserved address, or the one made from a router's prefix,
 * would be lost over the reboot. IPv6's temporary addresses do not identify a node.
 */
export const dhcpIdentity = {
  path: '/etc/NetworkManager/conf.d/90-sno-dhcp-identity.conf',
  contents: `[connection]
ipv4.dhcp-client-id=mac
ipv6.dhcp-duid=ll
ipv6.dhcp-iaid=mac
ipv6.addr-gen-mode=eui64
ipv6.ip6-privacy=0
`,
} as const;
