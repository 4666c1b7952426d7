import { families } from './bad-families.ts';
import { identity } from './bad-identity.ts';
import { installation } from './bad-installation.ts';
import { networks } from './bad-networks.ts';
import { nmstate } from './bad-nmstate.ts';
import { outside } from './bad-outside.ts';
import { site } from './bad-site.ts';
import type { Case } from './install-config-file.ts';

/** Every install-config that is refused. */
export const badInstallConfigs: readonly Case[] = [
  ...identity,
  ...networks,
  ...families,
  ...installation,
  ...outside,
  ...site,
  ...nmstate,
];
