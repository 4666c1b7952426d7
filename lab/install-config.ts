import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { LOG_NAME } from '../cli/process/log-file.ts';
import { type Family, familyOf } from '../lib/base/network/address.ts';
import { run } from '../lib/host/command.ts';
import { exists } from '../lib/host/files.ts';
import { expectDeferredNotice } from './checks/deferred-applied.ts';
import { type HostIdentity, SEGMENTS } from './host/network.ts';
import { cli } from './paths.ts';
import { CLUSTER, DOMAIN } from './site.ts';
import { hostInputs, siteInputs } from './site-inputs.ts';

/** Additional fields of `bootstrapInPlace`. */
export type HostInputs = Readonly<Record<string, unknown>>;

/**
 * The lab's cluster on the networks of these families. Cluster and service networks are the defaults
 * for them. `workers`: those of the installation.
 */
export const clusterConfig = (families: readonly Family[], workers = 0) => ({
  apiVersion: 'v1',
  baseDomain: CLUSTER.baseDomain,
  metadata: { name: CLUSTER.name },
  compute: [{ name: 'worker', replicas: workers }],
  controlPlane: { name: 'master', replicas: 1 },
  networking: {
    networkType: 'OVNKubernetes',
    machineNetwork: families.map((family) => ({ cidr: SEGMENTS[family].network })),
  },
  platform: { none: {} },
});

const installConfig = ({ name, addresses }: HostIdentity, inputs: HostInputs, workers: number) => ({
  ...clusterConfig(addresses.map(familyOf), workers),
  bootstrapInPlace: { hostname: `${name}.${DOMAIN}`, ...hostInputs, ...inputs },
});

export interface CreatedInstallation {
  /** Ignition config of the live host. */
  readonly ignition: string;
  readonly kubeconfig: string;
}

/** What `sno create` writes to an installation's folder. */
export function createdIn(folder: string): CreatedInstallation {
  return {
    ignition: join(folder, 'bootstrap-in-place-for-live-iso.ign'),
    kubeconfig: join(folder, 'auth/kubeconfig'),
  };
}

export async function writeInstallConfig(
  folder: string,
  host: HostIdentity,
  inputs: HostInputs,
  /** Of the installation. */
  workers = 0,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(
    join(folder, 'install-config.yaml'),
    stringify({ ...installConfig(host, inputs, workers), ...(await siteInputs()) }),
  );
}

export interface CreateRun {
  /** coreos-installer's arguments on the live host, including the disk. */
  readonly installer: string;
  readonly options: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** Runs `sno create <what>` in an installation's folder and checks its notice about deferred manifests. */
export async function runCreate(
  what: string,
  folder: string,
  { installer, options, env, signal }: CreateRun,
): Promise<void> {
  const isMade = await exists(createdIn(folder).ignition);
  await run(cli, ['create', what, '--dir', folder, ...options], {
    signal,
    deadlineMs: 180_000,
    env: {
      ...env,
      OPENSHIFT_INSTALL_EXPERIMENTAL_BOOTSTRAP_IN_PLACE_COREOS_INSTALLER_ARGS: installer,
    },
  });
  if (!isMade) expectDeferredNotice(await readFile(join(folder, LOG_NAME), 'utf8'));
}
