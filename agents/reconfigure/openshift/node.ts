import { lstat } from 'node:fs/promises';
import type { Limits } from '../../../lib/base/wait/limits.ts';
import type { KubeClient } from '../../../lib/clients/kube/client.ts';
import { CLUSTER_VERSION } from '../../../lib/cluster/openshift/operators.ts';
import { clusterVersions, machineConfigPools } from '../../../lib/cluster/steady/openshift.ts';
import { ifMissing, readTextIfPresent } from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { unitProperties } from '../../../lib/host/systemd.ts';
import {
  fixedByKubeletDropin,
  kubeletDropinPath,
  type RelocatableNode,
  relocatableFiles,
} from '../../../lib/relocation/relocatable/machine-config.ts';
import { ASSISTED_DNS } from '../../../lib/relocation/relocatable/openshift/assisted-dns.ts';
import type { OpenShiftFacts } from '../../../lib/relocation/relocatable/openshift/node.ts';
import { CLUSTER } from '../../../lib/relocation/site-openshift/names.ts';
import { openShiftResources } from '../../../lib/relocation/site-openshift/resources.ts';
import type { SiteFile } from '../../../lib/render/machine-config/site-files.ts';

/** Name and address of the Node as this host's kubelet has them; undefined without the MachineConfig of a relocatable node. */
export async function fixedNode(
  paths: HostPaths,
): Promise<Pick<RelocatableNode, 'address' | 'nodeName'> | undefined> {
  const text = await readTextIfPresent(paths.at(kubeletDropinPath));
  return text === undefined ? undefined : fixedByKubeletDropin(text);
}

export type PoolFacts = Pick<OpenShiftFacts, 'clusterDomain' | 'version' | 'pool'>;

/** What the API says of the cluster and of the pool of its only node. */
export async function poolFacts(client: KubeClient, limits: Limits): Promise<PoolFacts> {
  const version = await client.find(clusterVersions, { name: CLUSTER_VERSION }, limits);
  const pool = await client.find(machineConfigPools, { name: 'master' }, limits);
  const ingress = await client.get(openShiftResources.ingresses, { name: CLUSTER }, limits);
  return {
    clusterDomain: ingress.spec.domain.replace(/^apps\./, ''),
    version: version?.status?.desired?.version,
    pool: pool && {
      conditions: new Map(
        (pool.status?.conditions ?? []).map(({ type, status }) => [type, status]),
      ),
      sources: (pool.spec?.configuration?.source ?? []).flatMap(({ name = [] }) => name),
    },
  };
}

/** What the API and the host say of a node with that name and address. */
export async function openShiftFacts(
  paths: HostPaths,
  client: KubeClient,
  fixed: Pick<RelocatableNode, 'address' | 'nodeName'>,
  limits: Limits,
): Promise<OpenShiftFacts> {
  const facts = await poolFacts(client, limits);
  const { clusterDomain, pool } = facts;
  const replacesAssistedDns = pool?.sources.includes(ASSISTED_DNS) ?? false;
  const { ActiveState } = await unitProperties('dnsmasq.service', ['ActiveState'], limits.signal);
  return {
    ...facts,
    differing: await differing(
      paths,
      relocatableFiles({ ...fixed, clusterDomain, replacesAssistedDns }),
    ),
    hasNameServer: ActiveState === 'active',
  };
}

/** Files that differ from what the daemon wrote: when the daemon finds one itself, it makes the pool degraded. */
async function differing(paths: HostPaths, files: readonly SiteFile[]): Promise<string[]> {
  const found: string[] = [];
  for (const { path, mode, contents } of files) {
    const present = await lstat(paths.at(path)).catch(ifMissing);
    if (present === undefined) found.push(`${path} does not exist`);
    else if (!present.isFile()) found.push(`${path} is no regular file`);
    else if ((await readTextIfPresent(paths.at(path))) !== contents)
      found.push(`${path} has other contents than in the MachineConfig`);
    else if ((present.mode & 0o777) !== mode)
      found.push(`${path} has the mode ${octal(present.mode & 0o777)}, expected ${octal(mode)}`);
  }
  return found;
}

const octal = (mode: number) => mode.toString(8).padStart(4, '0');
