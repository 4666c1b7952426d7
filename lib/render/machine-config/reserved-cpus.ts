import type { Cluster } from '../../cluster/cluster.ts';
import type { SiteDropin, SiteFile } from './site-files.ts';

const NAME = '10-sno-reserved-cpus.conf';
/** For every unit whose name begins with sno-, also those of a later version (systemd.unit(5)). */
const OWN_UNITS = '/etc/systemd/system/sno-.service.d';
const OTHER_UNITS = ['containerd.service', 'crio.service', 'kubelet.service'];

const contents = (reservedCpus: string) => `[Service]\nCPUAffinity=${reservedCpus}\n`;

/** The node's own processes run on the reserved CPUs only, on a host that runs workloads. */
export function reservedCpuFiles({ reservedCpus }: Pick<Cluster, 'reservedCpus'>): SiteFile[] {
  if (reservedCpus === undefined) return [];
  return [{ path: `${OWN_UNITS}/${NAME}`, mode: 0o644, contents: contents(reservedCpus) }];
}

export function reservedCpuDropins({ reservedCpus }: Pick<Cluster, 'reservedCpus'>): SiteDropin[] {
  if (reservedCpus === undefined) return [];
  return OTHER_UNITS.map((unit) => ({ unit, name: NAME, contents: contents(reservedCpus) }));
}
