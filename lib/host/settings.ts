import { isAbsolute, normalize } from 'node:path';
import { z } from 'zod';
import { describeError, Failure } from '../base/errors/failure.ts';
import { readTextIfPresent } from './files.ts';
import type { HostPaths } from './paths.ts';
import { aioAndWorkerSettings } from './settings/aio-and-workers.ts';
import { allAgentsSettings } from './settings/all-agents.ts';
import { backupSettings } from './settings/backup.ts';
import { certificateSettings } from './settings/certificates.ts';
import { changeSettings } from './settings/changes.ts';
import { gatherSettings } from './settings/gather.ts';
import { installedSettings } from './settings/installed.ts';
import { liveSettings } from './settings/live.ts';
import { siteSettings } from './settings/site.ts';

/**
 * Every deadline, interval and threshold of the agents, with its unit in the name, one switch, one folder and the TPM; the
 * files in lib/host/settings/ have those of each part. `/etc/sno-agents/settings.json` overrides any of them by the same name.
 */
export const defaultSettings = {
  ...allAgentsSettings,
  ...liveSettings,
  ...installedSettings,
  ...aioAndWorkerSettings,
  ...certificateSettings,
  ...backupSettings,
  ...changeSettings,
  ...siteSettings,
  ...gatherSettings,
} as const;

type Name = keyof typeof defaultSettings;
type Value<Default> = Default extends boolean ? boolean : Default extends string ? string : number;
export type Settings = { readonly [Each in Name]: Value<(typeof defaultSettings)[Each]> };

/** The maximum of Node's timers; a longer one would fire at once. */
const longestMs = 2 ** 31 - 1;

/** A count is a whole number. Backups may use the whole disk, but not more. */
function schemaOf(name: string, value: number | boolean | string) {
  if (typeof value === 'boolean') return z.boolean();
  if (typeof value === 'string') return name.endsWith('Folder') ? folder : word;
  const number = z.number().positive().max(longestMs);
  if (name === 'backupDiskSharePercent') return number.max(100);
  return name.endsWith('Count') ? number.int() : number;
}

const folder = z
  .string()
  .refine(
    (path) => path !== '/' && isAbsolute(path) && normalize(path) === path && !path.endsWith('/'),
    'expected the absolute path of a folder, without a / at its end',
  );

const word = z.string().regex(/^[A-Za-z0-9/][A-Za-z0-9.,:=+/_-]*$/, 'expected one word');

/** Built on demand: most hosts have no settings file, and most agent runs are short. */
const settingsSchema = () =>
  z
    .strictObject(
      Object.fromEntries(
        Object.entries(defaultSettings).map(([name, value]) => [name, schemaOf(name, value)]),
      ),
    )
    .partial();

/** The defaults, overridden by the host's settings file. */
export async function readSettings(paths: HostPaths): Promise<Settings> {
  const path = `${paths.config}/settings.json`;
  const text = await readTextIfPresent(path);
  return text === undefined ? defaultSettings : parseSettings(path, text);
}

export function parseSettings(path: string, text: string): Settings {
  try {
    return { ...defaultSettings, ...settingsSchema().parse(JSON.parse(text)) };
  } catch (error) {
    const found =
      error instanceof z.ZodError
        ? error.issues
            .map(({ path, message }) => [...path, message].map(String).join(': '))
            .join('; ')
        : describeError(error);
    throw new Failure('usage', `the settings in ${path} cannot be used`, {
      expected:
        'a JSON object of settings with positive numbers, or true and false for switches, or a path for a folder',
      found,
    });
  }
}
