import { readFileSync } from 'node:fs';
import type { UnitFile } from './unit-file.ts';

/** By which the installer and its scripts call gather, over SSH too. */
export const gatherCommands = [
  'installer-gather.sh',
  'installer-masters-gather.sh',
  'installer-master-bootstrap-in-place-gather.sh',
] as const;

/** The links of both hosts, by path: what people call, and what the installer does. They stay. */
export const gatherLinks: readonly { readonly path: string; readonly target: string }[] = [
  { path: '/var/lib/sno-agents/bin/gather', target: 'sno-agents' },
  ...gatherCommands.map((name) => ({
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
