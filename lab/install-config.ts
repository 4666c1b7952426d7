import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { run } from '../lib/host/command.ts';
import { MACHINE_NETWORK } from './host/network.ts';
import { osImageOnMedium } from './medium.ts';
import { cli } from './paths.ts';
import { CLUSTER, DISK, DOMAIN, host } from './site.ts';

const installConfig = {
  apiVersion: 'v1',
  baseDomain: CLUSTER.baseDomain,
  metadata: { name: CLUSTER.name },
  compute: [{ name: 'worker', replicas: 0 }],
  controlPlane: { name: 'master', replicas: 1 },
  networking: { networkType: 'OVNKubernetes', machineNetwork: [{ cidr: MACHINE_NETWORK }] },
  platform: { none: {} },
  bootstrapInPlace: { hostname: `${host.name}.${DOMAIN}` },
  pullSecret: '{"auths":{}}',
};

export interface CreatedInstallation {
  /** Ignition config of the live host. */
  readonly ignition: string;
  readonly kubeconfig: string;
}

/** Writes an install-config into a new folder and runs `sno create single-node-ignition-config` on it. */
export async function createInstallation(
  folder: string,
  payload: string,
  signal: AbortSignal,
): Promise<CreatedInstallation> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'install-config.yaml'), stringify(installConfig));
  const installer = ['--offline', '--insecure', '--image-file', osImageOnMedium, DISK].join(' ');
  await run(cli, ['create', 'single-node-ignition-config', '--dir', folder, '--payload', payload], {
    signal,
    deadlineMs: 60_000,
    env: { OPENSHIFT_INSTALL_EXPERIMENTAL_BOOTSTRAP_IN_PLACE_COREOS_INSTALLER_ARGS: installer },
  });
  return {
    ignition: join(folder, 'bootstrap-in-place-for-live-iso.ign'),
    kubeconfig: join(folder, 'auth/kubeconfig'),
  };
}
