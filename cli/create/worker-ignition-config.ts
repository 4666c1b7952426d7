import { workerApi, workerPaths } from '../../lib/cluster/workers/paths.ts';
import type { Cluster } from '../../lib/config/cluster/cluster.ts';
import { agentLinks, commandLinks } from '../../lib/engine/agents/links.ts';
import { agentsOf, WORKER_AGENTS } from '../../lib/engine/agents/table.ts';
import { issueLink } from '../../lib/engine/console/publish-issue.ts';
import { hostPaths } from '../../lib/host/paths.ts';
import { tokenKubeconfig } from '../../lib/pki/kubeconfig.ts';
import type { IgnitionConfig } from '../../lib/render/ignition/config.ts';
import {
  configOf,
  directory,
  file,
  link,
  unit,
  withDropins,
} from '../../lib/render/ignition/entries.ts';
import { machineConfig } from '../../lib/render/machine-config/machine-config.ts';
import { gatherLinks } from '../../units/gather.ts';
import { workerUnits } from '../../units/worker.ts';
import { digestFiles } from './aio-ignition-config.ts';
import { coreUser, hostFiles } from './shared-entries.ts';

/** What describes one host of the cluster, and not its workers. */
type OfOneHost =
  | 'installation'
  | 'inPlace'
  | 'apiNames'
  | 'hostname'
  | 'networkConfig'
  | 'reservedCpus'
  | 'dayOneWorkers'
  | 'sealSecrets'
  | 'onAddressChange'
  | 'relocatable';

export interface WorkerIgnitionInput {
  /** With the digest of the payload. */
  readonly cluster: Omit<Cluster, OfOneHost> & { readonly payloadSha256: string };
  /** JSON, as container tools store it. */
  readonly pullSecret: string;
  /** Certificates of the authorities of the API server, as PEM. */
  readonly apiCa: string;
  /** Bootstrap token. */
  readonly token: string;
  /** `host:port` of the API server, as workers reach it. */
  readonly apiServer: string;
  /** Where the executable is fetched, if no medium has it. */
  readonly executableUrl?: string;
}

/**
 * The Ignition config of a worker: the first boot of the disk that it runs from. It is the same for
 * all workers, so it has no name and no address of a host. The same input gives the same config.
 */
export function workerIgnitionConfig(input: WorkerIgnitionInput): IgnitionConfig {
  const { cluster, apiCa, token, apiServer, executableUrl } = input;
  const paths = hostPaths();
  const site = machineConfig(cluster, 'aio');
  return configOf({
    directories: [
      // With the modes that a renderer gives them: Ignition would create parents with 0755.
      directory(paths.config, 0o700),
      directory(paths.kubelet, 0o700),
    ],
    files: [
      ...hostFiles(input, file),
      ...digestFiles(cluster),
      file(workerPaths.apiCa, 0o644, apiCa),
      file(workerPaths.apiAddress, 0o644, `API_SERVER=${apiServer}\n`),
      file(
        workerPaths.bootstrapKubeconfig,
        0o600,
        tokenKubeconfig(
          { server: workerApi, cluster: 'local', user: 'worker' },
          { authority: workerPaths.apiCa, token },
        ),
      ),
      // As on the control-plane host (lib/render/kubernetes/addons/index.ts).
      file('/etc/modules-load.d/sno-services.conf', 0o644, 'br_netfilter\n'),
      ...site.files.map(({ path, mode, contents }) => file(path, mode, contents)),
    ],
    links: [
      ...agentLinks([...agentsOf('worker'), ...agentsOf('joined'), ...WORKER_AGENTS]),
      ...commandLinks(['sno-agents']),
      ...gatherLinks,
      issueLink,
    ].map(({ path, target }) => link(path, target)),
    units: withDropins(
      workerUnits(executableUrl === undefined ? 'medium' : 'url').map(
        ({ name, contents, enabled }) => unit(name, { contents, enabled }),
      ),
      site.dropins,
    ),
    users: coreUser(cluster),
  });
}
