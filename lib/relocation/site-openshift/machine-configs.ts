import type { IgnitionConfig, User } from '../../render/ignition/config.ts';
import { user } from '../../render/ignition/entries.ts';
import { machineConfigManifest } from '../../render/machine-config/manifest.ts';
import { timeFiles } from '../../render/machine-config/time.ts';
import { SITE } from './names.ts';
import { type MachineConfigObject, openShiftResources } from './resources.ts';
import { present, type SiteWrite } from './site-write.ts';

const USER = 'core';
/** The installer's; the keys of the pool's other MachineConfigs would be added to its own. */
const SSH = '99-master-ssh';

/** Who may log in, in place of those of before. The daemon writes keys without a restart. */
export const sshKeys = (keys: readonly string[]): SiteWrite => {
  const core = user(USER, { sshAuthorizedKeys: [...keys] });
  const manifest = machineConfigManifest(SSH, { users: [core] });
  return present(
    `MachineConfig ${SSH}`,
    openShiftResources.machineConfigs,
    { name: SSH },
    (found) => (found === undefined ? manifest : withUser(found, core, manifest.spec.config)),
  );
};

function withUser(
  { spec, ...found }: MachineConfigObject,
  added: User,
  { ignition }: Pick<IgnitionConfig, 'ignition'>,
) {
  const { config = { ignition } } = spec;
  const others = (config.passwd?.users ?? []).filter(({ name }) => name !== added.name);
  const users = [...others, added];
  return {
    ...found,
    spec: { ...spec, config: { ...config, passwd: { ...config.passwd, users } } },
  };
}

/** The time servers of the site, besides those of DHCP. Costs a restart of the node. */
export const timeServers = (additionalNtpSources: readonly string[]): SiteWrite => {
  const name = SITE.timeMachineConfig;
  const files = timeFiles({ additionalNtpSources: [...additionalNtpSources] });
  const { spec, ...manifest } = machineConfigManifest(name, { files });
  return present(`MachineConfig ${name}`, openShiftResources.machineConfigs, { name }, (found) => ({
    ...(found ?? manifest),
    spec: { ...found?.spec, config: spec.config },
  }));
};
