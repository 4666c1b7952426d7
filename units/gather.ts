import { readFileSync } from 'node:fs';
import { scriptNames } from '../lib/gather/names.ts';
import type { UnitFile } from './unit-file.ts';

/** The links of both hosts, by path: what people call, and what the installer does. They stay. */
export const gatherLinks: readonly { readonly path: string; readonly target: string }[] = [
  { path: '/var/lib/sno-agents/bin/gather', target: 'sno-agents' },
  ...scriptNames.map((name) => ({
    path: `/usr/local/bin/${name}`,
    target: '/var/lib/sno-agents/bin/sno-agents',
  })),
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
