import { readFileSync } from 'node:fs';
import { kubeletRequires } from '../lib/engine/agents/table.ts';
import { nodeUnits, progressUnit, unsealUnit } from './installed.ts';
import type { UnitFile } from './unit-file.ts';

/** Volume label of the second medium, which the mount unit looks for. */
export const MEDIUM_LABEL = 'sno-agents';

/** The executable and the payload on a second medium, with the layout of a live ISO. */
const fromMedium: readonly UnitFile[] = [
  {
    // systemd-escape --path --suffix=device /dev/disk/by-label/sno-agents
    name: 'dev-disk-by\\x2dlabel-sno\\x2dagents.device',
    enabled: false,
    contents: readFileSync(new URL('./aio/medium.device', import.meta.url), 'utf8'),
  },
  {
    name: 'run-media-iso.mount',
    enabled: false,
    contents: readFileSync(new URL('./aio/run-media-iso.mount', import.meta.url), 'utf8'),
  },
  {
    name: 'sno-executable.service',
    enabled: false,
    contents: readFileSync(new URL('./aio/sno-executable.service', import.meta.url), 'utf8'),
  },
];

/** Both are fetched. */
const byUrl: readonly UnitFile[] = [
  {
    name: 'sno-executable.service',
    enabled: false,
    contents: readFileSync(new URL('./aio/by-url/sno-executable.service', import.meta.url), 'utf8'),
  },
];

/** What installs the executable on a host that boots from its disk. */
export const executableUnits = (source: 'medium' | 'url'): readonly UnitFile[] =>
  source === 'medium' ? fromMedium : byUrl;

const aiokubeUnit: UnitFile = {
  name: 'aiokube.service',
  enabled: true,
  contents: readFileSync(new URL('./aio/aiokube.service', import.meta.url), 'utf8'),
};

/**
 * Enabled by aiokube's step kubelet: a reboot before that must not start them without the payload,
 * the kubelet's identity and its configuration.
 */
const ENABLED_LATER = [...kubeletRequires, 'kubelet.service'];

/** The units of an all-in-one host, put into its Ignition by `sno create aio-ignition`. */
export const aioUnits = (
  source: 'medium' | 'url',
  { isSealed }: { readonly isSealed: boolean } = { isSealed: false },
): readonly UnitFile[] => [
  ...nodeUnits.map((unit) =>
    ENABLED_LATER.includes(unit.name) ? { ...unit, enabled: false } : unit,
  ),
  ...executableUnits(source),
  progressUnit,
  aiokubeUnit,
  ...(isSealed ? [unsealUnit] : []),
];

/** Those that only an all-in-one host has; of two with the same name, that of the medium. */
export const ownAioUnits: readonly UnitFile[] = [...fromMedium, aiokubeUnit, unsealUnit];

/** Only the installation needs them; the clean-up deletes those that the host has. */
export const firstBootUnits: readonly Pick<UnitFile, 'name'>[] = [...fromMedium, progressUnit];
