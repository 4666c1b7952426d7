import { decodeDataUrl } from '../../lib/base/data-url.ts';
import { describeError, Failure } from '../../lib/base/errors/failure.ts';
import { isRecord, parseJson } from '../../lib/base/json.ts';
import { jsonFault } from '../../lib/base/json-fault.ts';
import { encrypterFor, recipientsIn } from '../../lib/change/backup/portable/recipients.ts';
import { readGivenFile } from '../../lib/host/given-file.ts';
import { hostPaths } from '../../lib/host/paths.ts';
import { defaultSettings, parseSettings } from '../../lib/host/settings.ts';
import type { File, IgnitionConfig } from '../../lib/render/ignition/config.ts';
import type { PlaceFile } from './shared-entries.ts';

/** Options for the settings of the agents on the host. */
export interface SettingsOptions {
  /** A file like /etc/sno-agents/settings.json. */
  settings?: string;
  /** `NAME=VALUE`, each of which wins over the file. */
  set?: readonly string[];
}

export type OwnSettings = Readonly<Record<string, unknown>>;

/** The file on the host. */
export const settingsPath = `${hostPaths().config}/settings.json`;

/**
 * The settings that a person gives; undefined if none is given.
 *
 * @throws Failure (usage) for one that the host would refuse
 */
export async function readOwnSettings(
  { settings, set = [] }: SettingsOptions,
  signal: AbortSignal,
): Promise<OwnSettings | undefined> {
  if (settings === undefined && set.length === 0) return undefined;
  const assigned = set.map(assignment);
  const twice = assigned.find(([name], at) => assigned.findIndex(([other]) => other === name) < at);
  if (twice !== undefined) {
    throw new Failure('usage', `--set ${twice[0]} is there twice; nothing was written`, {
      fix: 'Remove one of the two.',
    });
  }
  const given = { ...(await fromFile(settings, signal)), ...Object.fromEntries(assigned) };
  try {
    const { gatherRecipients } = parseSettings('the options', JSON.stringify(given));
    // On the host it would be known when a bundle is made, which is then not encrypted.
    requireRecipients(gatherRecipients);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    throw new Failure('usage', '--settings or --set cannot be used; nothing was written', {
      expected: error.details.expected ?? '',
      found: error.details.found ?? '',
      fix: 'The reference of settings has the names and what each changes (docs/reference/settings.md).',
    });
  }
  return given;
}

function requireRecipients(setting: string): void {
  try {
    encrypterFor(recipientsIn(setting));
  } catch (error) {
    throw new Failure('usage', 'gatherRecipients cannot be used', {
      expected: 'recipients of age, separated by commas',
      found: `gatherRecipients: ${describeError(error)}`,
    });
  }
}

async function fromFile(path: string | undefined, signal: AbortSignal): Promise<OwnSettings> {
  if (path === undefined) return {};
  const text = await readGivenFile(path, '--settings', { signal });
  const fault = jsonFault(text);
  const read = parseJson(text);
  if (fault === undefined && isRecord(read)) return read;
  throw new Failure('usage', `--settings ${path} cannot be used; nothing was written`, {
    expected: 'a JSON object of settings',
    found: fault ?? 'something else',
  });
}

/** A number, true or false as JSON has them; anything else is text, and everything where a setting is one, such as the PCR 7. */
function assignment(text: string): [name: string, value: unknown] {
  const [, name, value] = /^([A-Za-z0-9]+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) {
    throw new Failure('usage', `--set ${text} cannot be used; nothing was written`, {
      expected: 'NAME=VALUE, such as steadyStateMs=3600000',
    });
  }
  const isText =
    typeof new Map<string, unknown>(Object.entries(defaultSettings)).get(name) === 'string';
  const parsed = isText ? value : parseJson(value);
  return [name, typeof parsed === 'number' || typeof parsed === 'boolean' ? parsed : value];
}

/** A config with these settings; they win over those that it has. */
export function withSettings(
  config: IgnitionConfig,
  settings: OwnSettings | undefined,
  place: PlaceFile,
): IgnitionConfig {
  if (settings === undefined) return config;
  const files = config.storage?.files ?? [];
  const before = files.find(({ path }) => path === settingsPath);
  const all = { ...settingsIn(before), ...settings };
  const file = place(settingsPath, 0o600, `${JSON.stringify(all)}\n`);
  const others = files.filter(({ path }) => path !== settingsPath);
  return { ...config, storage: { ...config.storage, files: [...others, file] } };
}

function settingsIn(file: File | undefined): OwnSettings {
  if (file?.contents === undefined) return {};
  const read = parseJson(decodeDataUrl(file.contents).toString('utf8'));
  return isRecord(read) ? read : {};
}
