import type { File, IgnitionConfig } from '../ignition/config.ts';
import { configOf, type Entries, file } from '../ignition/entries.ts';
import type { SiteFile } from './site-files.ts';

/** A MachineConfig of OpenShift for the control-plane node (machineconfiguration.openshift.io/v1). */
export interface MachineConfigManifest {
  readonly apiVersion: string;
  readonly kind: 'MachineConfig';
  readonly metadata: {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
  };
  readonly spec: { readonly config: MachineConfigIgnition };
}

interface MachineConfigIgnition {
  readonly ignition: IgnitionConfig['ignition'];
  readonly passwd?: NonNullable<IgnitionConfig['passwd']>;
  readonly storage?: { readonly files: readonly File[] };
  readonly systemd?: NonNullable<IgnitionConfig['systemd']>;
}

/** What the machine-config operator applies on a running node, too: files, units and users, but no directories or links. */
export type MachineConfigEntries = Pick<Entries, 'units' | 'users'> & {
  readonly files?: readonly SiteFile[];
};

/** @param name MachineConfigs are merged in the order of their names */
export function machineConfigManifest(
  name: string,
  { files = [], units = [], users = [] }: MachineConfigEntries,
): MachineConfigManifest {
  const { ignition, passwd, storage, systemd } = configOf({
    // The daemon of some releases reads no compressed files.
    files: files.map(({ path, mode, contents }) => file(path, mode, contents, { gzip: false })),
    units,
    users,
  });
  return {
    apiVersion: 'machineconfiguration.openshift.io/v1',
    kind: 'MachineConfig',
    metadata: { name, labels: { 'machineconfiguration.openshift.io/role': 'master' } },
    spec: {
      config: {
        ignition,
        ...(passwd === undefined ? {} : { passwd }),
        ...(storage?.files === undefined ? {} : { storage: { files: storage.files } }),
        ...(systemd === undefined ? {} : { systemd }),
      },
    },
  };
}
