import { isAbsolute, normalize } from 'node:path';
import { z } from 'zod';
import { describeError, Failure } from '../base/errors/failure.ts';
import { schemaWords } from '../base/errors/schema-words.ts';
import { suggest } from '../base/errors/suggest.ts';
import { isRecord, parseJson } from '../base/json.ts';
import { jsonFault, namedTwice } from '../base/json-fault.ts';
import { readTextIfPresent, readTextIfReadable } from './files.ts';
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

/** Unknown settings beyond these are not compared with the known ones. */
const MOST_COMPARED = 20;

type Name = keyof typeof defaultSettings;
type Value<Default> = Default extends boolean ? boolean : Default extends string ? string : number;
export type Settings = { readonly [Each in Name]: Value<(typeof defaultSettings)[Each]> };

/** The maximum of Node's timers; a longer one would fire at once. */
const longestMs = 2 ** 31 - 1;

/** What is counted, also at once, is a whole number. Backups may use the whole disk, but not more. */
function schemaOf(name: string, value: number | boolean | string) {
  if (typeof value === 'boolean') return z.boolean();
  if (name === 'tpm2Pcrs') return registers;
  if (typeof value === 'string') return name.endsWith('Folder') ? folder : word;
  const number = z.number().positive().max(longestMs);
  if (name === 'backupDiskSharePercent') return number.max(100);
  return /(Count|Concurrency)$/.test(name) ? number.int() : number;
}

const folder = z
  .string()
  .refine(
    (path) => path !== '/' && isAbsolute(path) && normalize(path) === path && !path.endsWith('/'),
    'expected the absolute path of a folder, without a / at its end',
  );

const word = z.string().regex(/^[A-Za-z0-9/][A-Za-z0-9.,:=+/_-]*$/, 'expected one word');

/** A TPM has 24; systemd-creds knows names for them, too. */
const registers = word.refine(
  (text) =>
    text.split(/[+,]/).every((each) => {
      // Behind it there may be a bank, and the value in it.
      const [name = ''] = each.split(/[:=]/, 1);
      return /^\d+$/.test(name) ? Number(name) < 24 : /^[a-z][a-z-]*$/.test(name);
    }),
  'expected registers from 0 to 23, such as 0+7',
);

/** Built on demand: most hosts have no settings file, and most agent runs are short. */
const settingsSchema = () =>
  z
    .strictObject(
      Object.fromEntries(
        Object.entries(defaultSettings).map(([name, value]) => [name, schemaOf(name, value)]),
      ),
    )
    .partial();

/**
 * The defaults, overridden by the host's settings file: for commands of people.
 * @throws Failure (usage) if the file cannot be read, or has a fault
 */
export async function readSettings(paths: Pick<HostPaths, 'config'>): Promise<Settings> {
  const { settings, fault } = await readSoundSettings(paths);
  if (fault !== undefined) throw fault;
  return settings;
}

/** Settings, and what is wrong with the file that they are from. */
export interface SoundSettings {
  readonly settings: Settings;
  readonly fault?: Failure;
}

/** What the file sets, of which only what is sound counts; undefined without a file. For a host that continues this one. */
export async function givenSettings(
  paths: Pick<HostPaths, 'config'>,
): Promise<Record<string, unknown> | undefined> {
  const text = await readTextIfReadable(`${paths.config}/settings.json`);
  return text === undefined ? undefined : soundEntries(settingsSchema(), parseJson(text));
}

/**
 * The same for what nobody attends, such as a boot and the way back from a change: the file is optional, people edit it, and a
 * power cut may leave it empty. What is sound of it is used, and the default of everything else. Throws nothing.
 */
export async function readSoundSettings(paths: Pick<HostPaths, 'config'>): Promise<SoundSettings> {
  const path = `${paths.config}/settings.json`;
  try {
    const text = await readTextIfPresent(path);
    return text === undefined ? { settings: defaultSettings } : soundSettings(path, text);
  } catch (error) {
    return { settings: defaultSettings, fault: unusable(path, describeError(error)) };
  }
}

/** @throws Failure (usage) for text with a fault */
export function parseSettings(path: string, text: string): Settings {
  const { settings, fault } = soundSettings(path, text);
  if (fault !== undefined) throw fault;
  return settings;
}

function soundSettings(path: string, text: string): SoundSettings {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    return { settings: defaultSettings, fault: unusable(path, jsonFault(text) ?? 'no JSON') };
  }
  const schema = settingsSchema();
  const { data, error } = schema.safeParse(given);
  if (data !== undefined) {
    const twice = namedTwice(text);
    const settings = { ...defaultSettings, ...data };
    return twice === undefined ? { settings } : { settings, fault: unusable(path, twice) };
  }
  const found = error.issues.flatMap(faultsOf).join('; ').slice(0, LONGEST_FOUND);
  return {
    settings: { ...defaultSettings, ...schema.parse(soundEntries(schema, given)) },
    fault: unusable(path, found),
  };
}

/** A person corrects some faults at a time. */
const LONGEST_FOUND = 2000;

/** Of an unknown setting with the one that may be meant. */
function faultsOf(issue: z.core.$ZodIssue): string[] {
  if (issue.code !== 'unrecognized_keys') return [[...issue.path, schemaWords(issue)].join(': ')];
  return issue.keys.map((name, at) => {
    const near = at < MOST_COMPARED ? suggest(name, Object.keys(defaultSettings)) : undefined;
    const meant = near === undefined ? '' : `; did you mean ${near}?`;
    return `${JSON.stringify(name)}, which is no setting${meant}`;
  });
}

const soundEntries = (schema: z.ZodType, given: unknown): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(isRecord(given) ? given : {}).filter(
      ([name, value]) => schema.safeParse({ [name]: value }).success,
    ),
  );

const unusable = (path: string, found: string) =>
  new Failure('usage', `the settings in ${path} cannot be used`, {
    expected:
      'a JSON object of settings with positive numbers, or true and false for switches, or a path for a folder',
    found,
    fix: 'Correct the file, or delete it for the defaults.',
  });
