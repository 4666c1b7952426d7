import { readFileSync } from 'node:fs';
import { scriptNames } from '../lib/clients/rights/names.ts';
import { agentLinks, commandLinks, type LinkOnHost } from '../lib/engine/agents/links.ts';
import type { UnitFile } from './unit-file.ts';

/** The links of both hosts: what people call, and what the installer does. They stay. */
export const gatherLinks: readonly LinkOnHost[] = [
  ...agentLinks(['gather']),
  ...commandLinks(scriptNames),
];

/** Started when a unit of the installation fails, on either host, and by bootkube before the restart. */
export const liveGatherUnit: UnitFile = {
  name: 'sno-gather.service',
  enabled: false,
  contents: readFileSync(new URL('./live/sno-gather.service', import.meta.url), 'utf8'),
};

export const installedGatherUnit: UnitFile = {
  name: 'sno-gather.service',
  enabled: false,
  contents: readFileSync(new URL('./installed/sno-gather.service', import.meta.url), 'utf8'),
};
