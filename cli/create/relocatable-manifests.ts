import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { Failure } from '../../lib/base/errors/failure.ts';
import { schemaFaults } from '../../lib/base/errors/schema-faults.ts';
import { readGoYaml } from '../../lib/base/go-yaml/read.ts';
import { writeGoYaml } from '../../lib/base/go-yaml/write.ts';
import { familyOf, isAddress } from '../../lib/base/network/address.ts';
import { contains, parseNetwork } from '../../lib/base/network/network.ts';
import {
  isBaseDomain,
  isClusterName,
  isUsableHostname,
  withoutFinalDot,
} from '../../lib/config/site/names.ts';
import { writeFileAtomic } from '../../lib/host/files.ts';
import {
  RELOCATABLE_MACHINE_CONFIG,
  relocatableManifest,
} from '../../lib/relocation/relocatable/machine-config.ts';
import type { Surroundings } from '../surroundings.ts';
import { refuse } from './new-folder.ts';

export interface RelocatableManifestsOptions {
  readonly dir: string;
  readonly address: string;
  readonly nodeName: string;
}

/** The install-config with the installer's defaults, in a ConfigMap. */
const CLUSTER_CONFIG = 'manifests/cluster-config.yaml';

const configMapSchema = z.object({ data: z.object({ 'install-config': z.string() }) });
const installConfigSchema = z.object({
  metadata: z.object({ name: z.string().refine(isClusterName, 'is no name of a cluster') }),
  baseDomain: z.string().refine(isBaseDomain, 'is no domain').transform(withoutFinalDot),
  platform: z.record(z.string(), z.unknown()),
  controlPlane: z.object({ replicas: z.number() }),
  compute: z.array(z.object({ replicas: z.number().optional() })).optional(),
  networking: z.object({
    networkType: z.string(),
    machineNetwork: z.array(z.object({ cidr: z.string() })),
  }),
});
type InstallConfig = z.infer<typeof installConfigSchema>;

/**
 * `sno create relocatable-manifests`: adds to the manifests of openshift-install what makes its node relocatable.
 * @throws Failure (usage) with every fault, with nothing written
 */
export async function createRelocatableManifests(
  { dir, address, nodeName }: RelocatableManifestsOptions,
  { print, wrote }: Pick<Surroundings, 'print' | 'wrote'>,
): Promise<void> {
  const config = await readInstallConfig(dir);
  refuse([...faultsOf(config), ...faultsOfNode({ address, nodeName }, config)]);
  const clusterDomain = `${config.metadata.name}.${config.baseDomain}`;
  const path = join(dir, 'openshift', `${RELOCATABLE_MACHINE_CONFIG}.yaml`);
  await mkdir(join(dir, 'openshift'), { recursive: true });
  const manifest = relocatableManifest({ address, nodeName, clusterDomain });
  await writeFileAtomic(path, writeGoYaml(manifest), 0o640);
  wrote(path);
  print(`The node keeps the address ${address} and the name ${nodeName} at every site.`);
}

async function readInstallConfig(dir: string): Promise<InstallConfig> {
  const path = join(dir, CLUSTER_CONFIG);
  const unusable = (details: { readonly found?: string; readonly cause?: unknown }) =>
    new Failure('usage', `${path} cannot be used`, {
      expected: 'what "openshift-install create manifests" has written for a single node',
      fix: `Run "openshift-install create manifests --dir ${dir}" first.`,
      ...details,
    });
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw unusable({ cause });
  });
  try {
    const map = configMapSchema.parse(readGoYaml(text));
    return installConfigSchema.parse(readGoYaml(map.data['install-config']));
  } catch (error) {
    // The messages of other errors quote the file, which has the pull secret.
    throw unusable(error instanceof z.ZodError ? { found: schemaFaults(error) } : {});
  }
}

function faultsOf({ platform, controlPlane, compute = [], networking }: InstallConfig): string[] {
  const workers = compute.reduce((sum, { replicas = 0 }) => sum + replicas, 0);
  const where = (field: string, expected: string, found: unknown) =>
    `${CLUSTER_CONFIG}: ${field}: expected ${expected}, found ${found}`;
  return [
    ...(Object.keys(platform).join() === 'none'
      ? []
      : [where('platform', 'none, which has no addresses of its own', Object.keys(platform))]),
    ...(controlPlane.replicas === 1
      ? []
      : [where('controlPlane.replicas', '1', controlPlane.replicas)]),
    ...(workers === 0
      ? []
      : [where('compute', 'no workers: they would need a route to the internal address', workers)]),
    ...(networking.networkType === 'OVNKubernetes'
      ? []
      : [where('networking.networkType', 'OVNKubernetes', networking.networkType)]),
  ];
}

function faultsOfNode(
  { address, nodeName }: Pick<RelocatableManifestsOptions, 'address' | 'nodeName'>,
  { networking }: InstallConfig,
): string[] {
  const networks = networking.machineNetwork.map(({ cidr }) => cidr);
  const isOurs =
    isAddress(address) &&
    familyOf(address) === 'IPv4' &&
    networks.some((cidr) => {
      const network = parseNetwork(cidr);
      return network !== undefined && contains(network, address);
    });
  return [
    ...(isOurs
      ? []
      : [
          `--address: expected the IPv4 address that the node has at its installation, in ${networks.join(', ')}, found ${JSON.stringify(address)}`,
        ]),
    ...(isUsableHostname(nodeName)
      ? []
      : [
          `--node-name: expected the name that the host has at its installation, found ${JSON.stringify(nodeName)}`,
        ]),
  ];
}
