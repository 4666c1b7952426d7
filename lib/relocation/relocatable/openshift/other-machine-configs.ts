import { z } from 'zod';
import { objectSchema } from '../../../clients/kube/resources.ts';
import { relocatableFiles } from '../machine-config.ts';
import { ASSISTED_DNS, ASSISTED_DNS_KEPT, assistedDnsFiles } from './assisted-dns.ts';
import type { HostFault } from './host-checks.ts';

/** A MachineConfig, as far as it is judged: what it writes, not its contents. */
export const machineConfigSchema = objectSchema.extend({
  spec: z.looseObject({
    config: z
      .looseObject({
        storage: z
          .looseObject({ files: z.array(z.looseObject({ path: z.string() })).nullish() })
          .nullish(),
        systemd: z
          .looseObject({ units: z.array(z.looseObject({ name: z.string() })).nullish() })
          .nullish(),
      })
      .nullish(),
  }),
});
export type JudgedMachineConfig = z.infer<typeof machineConfigSchema>;

/** Of the machine-config operator itself: its templates were read, release by release. */
const OWN = /^(00-master|01-master-.+|rendered-.+)$/;

/** Where a file changes how the node resolves names, or which address it has on which bridge; besides the files of ours. */
const PLACES = [
  '/etc/dnsmasq.conf',
  '/etc/dnsmasq.d/',
  '/etc/NetworkManager/conf.d/',
  '/etc/NetworkManager/dispatcher.d/',
  '/etc/nmstate/',
  '/etc/ovnk/',
];
const UNITS = ['dnsmasq.service', 'nodeip-configuration.service', 'ovs-configuration.service'];

/**
 * What MachineConfigs of others do that a relocatable node does otherwise, in a pool that has not ours. That of assisted-service is
 * known, and replaced; nobody knows what another one is for, so it is neither kept nor overridden.
 */
export function otherMachineConfigFaults(configs: readonly JudgedMachineConfig[]): HostFault[] {
  const node = { address: '', nodeName: '', clusterDomain: '' };
  const ours = relocatableFiles(node).map(({ path }) => path);
  const known = [...assistedDnsFiles.map(({ path }) => path), ...ASSISTED_DNS_KEPT];
  return configs.flatMap(({ metadata: { name }, spec: { config } }): HostFault[] => {
    if (OWN.test(name)) return [];
    const isAssisted = name === ASSISTED_DNS;
    const files = (config?.storage?.files ?? [])
      .map(({ path }) => path)
      .filter((path) => ours.includes(path) || PLACES.some((place) => isIn(path, place)))
      .filter((path) => !(isAssisted && known.includes(path)));
    const units = (config?.systemd?.units ?? [])
      .map((unit) => unit.name)
      .filter((unit) => UNITS.includes(unit) && !(isAssisted && unit === 'dnsmasq.service'));
    return [...files, ...units].map((each) => ({
      check: 'other-machine-configs',
      text: `MachineConfig ${name} has ${each}: nobody knows whether a relocatable node can go on with it; remove it first`,
    }));
  });
}

const isIn = (path: string, place: string) =>
  path === place || (place.endsWith('/') && path.startsWith(place));
