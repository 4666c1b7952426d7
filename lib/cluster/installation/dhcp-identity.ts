/**
 * Makes NetworkManager identify itself to DHCP, and generate its own addresses, by
 * the interface's MAC address. The defaults depend on the machine id and on a host
 * key that the live image and the disk do not share: a reserved address, or one
 * made from a router's prefix, would change over the reboot. IPv6 temporary
 * addresses do not identify a node.
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
