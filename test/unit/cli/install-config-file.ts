/** The good file that all bad ones are derived from. */
export const GOOD = `apiVersion: v1
baseDomain: example.com
metadata:
  name: sno
compute:
- name: worker
  replicas: 0
controlPlane:
  name: master
  replicas: 1
networking:
  networkType: OVNKubernetes
  machineNetwork:
  - cidr: 192.168.7.0/24
  clusterNetwork:
  - cidr: 10.128.0.0/14
    hostPrefix: 23
  serviceNetwork:
  - 172.30.0.0/16
platform:
  none: {}
bootstrapInPlace:
  installationDisk: /dev/disk/by-id/wwn-0x1
  hostname: sno1.example.com
  existingSystem: overwrite
pullSecret: '{"auths":{"quay.io":{"auth":"dXNlcjpwYXNz"}}}'
sshKey: |
  ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f me
`;

export type Edit = readonly [from: string, to: string];

export function edited(edits: readonly Edit[]): string {
  return edits.reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`the good file has no ${JSON.stringify(from)}`);
    return text.replace(from, () => to);
  }, GOOD);
}

/** Adds fields at the top level, from line 20. */
export const top = (text: string): Edit => ['platform:', `${text}\nplatform:`];

export interface Case {
  name: string;
  edits?: readonly Edit[];
  yaml?: string;
  variable?: string;
  /**
   * `LINE:COL field: expected …, found …. <fix>`, or `LINE field` if `says` covers the rest; without
   * numbers if there is no line. In file order.
   */
  faults: readonly string[];
  /** Patterns that the fault messages together must match. */
  says?: RegExp;
  /** A pattern that they must not match. */
  hides?: RegExp;
}
