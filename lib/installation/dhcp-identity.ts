/**
 * Under which identity NetworkManager asks for an address. Its default depends on the
 * machine id, which the disk does not share with the live image: a reserved address
 * would be lost over the reboot.
 */
export const dhcpIdentity = {
  path: '/etc/NetworkManager/conf.d/90-sno-dhcp-identity.conf',
  contents: '[connection]\nipv4.dhcp-client-id=mac\n',
} as const;
