import type { Cluster } from '../../config/cluster/cluster.ts';
import type { SiteDropin, SiteFile } from './site-files.ts';

const NAME = '10-sno-reserved-cpus.conf';
/** For every unit whose name begins with sno-, also those of a later version (systemd.unit(5)). */
const OWN_UNITS = '/etc/systemd/system/sno-.service.d';

/**
 * A container inherits the affinity of the runtime that started it, and old versions of runc do not
 * reset it: all containers would run on the reserved CPUs. They leave the control group, however.
 */
const SETTINGS = {
  'containerd.service': 'AllowedCPUs',
  'crio.service': 'AllowedCPUs',
  'kubelet.service': 'CPUAffinity',
} as const;

const contents = (setting: string, reservedCpus: string) =>
  `[Service]\n${setting}=${reservedCpus}\n`;

/** The node's own processes run on the reserved CPUs only, on a host that runs workloads. */
export function reservedCpuFiles({ reservedCpus }: Pick<Cluster, 'reservedCpus'>): SiteFile[] {
  if (reservedCpus === undefined) return [];
  const path = `${OWN_UNITS}/${NAME}`;
  return [{ path, mode: 0o644, contents: contents('CPUAffinity', reservedCpus) }];
}

export function reservedCpuDropins({ reservedCpus }: Pick<Cluster, 'reservedCpus'>): SiteDropin[] {
  if (reservedCpus === undefined) return [];
  return Object.entries(SETTINGS).map(([unit, setting]) => ({
    unit,
    name: NAME,
    contents: contents(setting, reservedCpus),
  }));
}
