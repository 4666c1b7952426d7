import { accepted } from '../unit/cli/accepted.ts';
import { acceptedNetworks, networks } from '../unit/cli/bad-families.ts';
import { badInstallConfigs } from '../unit/cli/bad-install-configs.ts';
import { edited, GOOD } from '../unit/cli/install-config-file.ts';

export interface InstallConfigCase {
  /** Unique. */
  readonly name: string;
  readonly text: string;
  /** Of the variable with arguments of coreos-installer. */
  readonly variable: string | undefined;
}

/** Every install-config of the unit tests. */
export const installConfigCases: readonly InstallConfigCase[] = [
  { name: 'the good file', text: GOOD, variable: undefined },
  ...accepted.map(({ name, edits }) => ({
    name: `accepted: ${name}`,
    text: edited(edits),
    variable: undefined,
  })),
  ...acceptedNetworks.map(({ name, given }) => ({
    name: `accepted: ${name}`,
    text: edited([networks(given)]),
    variable: undefined,
  })),
  ...badInstallConfigs.map(({ name, edits = [], yaml, variable }) => ({
    name: `refused: ${name}`,
    text: yaml ?? edited(edits),
    variable,
  })),
];
