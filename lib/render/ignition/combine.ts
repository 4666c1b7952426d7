import { isDeepStrictEqual } from 'node:util';
import { Failure } from '../../base/errors/failure.ts';
import { isRecord } from '../../base/json.ts';
import {
  type File,
  highestVersion,
  type IgnitionConfig,
  invalidConfig,
  isReadBy,
  serializeConfig,
} from './config.ts';
import { dataUrl } from './data-url.ts';
import { BASE_SPEC } from './entries.ts';
import { entryKey, mergeConfigs } from './merge.ts';
import { effectiveConfig, validateConfigText } from './validate.ts';

/** A config and its origin, as named in error messages. */
export interface Originated {
  origin: string;
  config: IgnitionConfig;
}

export interface CombineInput {
  /** The config that makes the host a member of its cluster, from parseConfig. */
  master: Originated;
  /** The bootstrap's additions; must not change an entry of the master. */
  ours: Originated;
  /** The few entries that replace the master's. */
  mustWin?: Originated;
  /** The newest spec version that the target's Ignition supports. */
  targetSpec: string;
  /** Maximum size of the text in bytes. */
  limitBytes?: number;
}

export interface Combined {
  config: IgnitionConfig;
  text: string;
  /** The effective config of the host. */
  merged: IgnitionConfig;
}

interface Collision {
  entry: string;
  field: string;
}

/**
 * Combines the master config with ours: ours is the parent, the master its first
 * child and mustWin its last, since a later child wins. Ignition would silently
 * drop an entry of ours that the master has too, so the merge is computed here: if
 * a value of ours is lost, a fatal Failure names every path and both origins. A
 * spec version that the target does not support and a result that does not validate
 * are fatal, too.
 */
export function combine(input: CombineInput): Combined {
  const { master, ours, targetSpec, limitBytes } = input;
  const winners = input.mustWin === undefined ? [] : [explicit(input.mustWin)];
  const effectiveMaster = followed(master);
  const winning = winners.flatMap(({ config }) => namesIn(config));

  const underMaster = mergeConfigs(ours.config, effectiveMaster);
  refuseLosses(ours, underMaster, master, new Set(winning));
  const merged = winners.reduce((under, { config }) => mergeConfigs(under, config), underMaster);
  for (const winner of winners) refuseLosses(winner, merged, master);

  const config = parentOf(ours.config, [master, ...winners]);
  if (!isReadBy(config.ignition.version, targetSpec)) {
    throw new Failure('fatal', 'The target cannot read the combined Ignition config', {
      expected: `spec ${targetSpec} or older`,
      found: `spec ${config.ignition.version}, from ${master.origin}`,
    });
  }
  const text = serializeConfig(config);
  const faults = validateConfigText(text, { limitBytes });
  if (faults.length > 0) throw invalidConfig(`${ours.origin} with ${master.origin}`, faults);
  return { config, text, merged };
}

/** `ours` merges no config of its own: it consists of its entries only. */
function parentOf(ours: IgnitionConfig, children: readonly Originated[]): IgnitionConfig {
  const versions = children.map(({ config }) => config.ignition.version);
  return {
    ...ours,
    ignition: {
      ...ours.ignition,
      version: highestVersion(BASE_SPEC, ours.ignition.version, ...versions),
      config: { merge: children.map(({ config }) => dataUrl(JSON.stringify(config))) },
    },
  };
}

function followed({ config, origin }: Originated): IgnitionConfig {
  const { config: effective, faults } = effectiveConfig(config);
  if (faults.length > 0) throw invalidConfig(origin, faults);
  return effective;
}

/**
 * Merging fills every field that a child leaves out from its parent: unless a file states
 * that it is not compressed, it would inherit the compression of the file it replaces.
 */
function explicit({ origin, config }: Originated): Originated {
  const files = config.storage?.files;
  if (files === undefined) return { origin, config };
  const complete = files.map(
    (file): File => ({
      ...file,
      contents: { ...file.contents, compression: file.contents?.compression ?? '' },
    }),
  );
  return { origin, config: { ...config, storage: { ...config.storage, files: complete } } };
}

type Fields = Record<string, unknown>;

interface NamedEntry {
  readonly name: string;
  readonly list: string;
  readonly value: Fields;
}

function namesIn(config: IgnitionConfig): string[] {
  return namedEntries(config).map(({ name }) => name);
}

/** Every entry by its name: a path, a unit, a drop-in as `<unit>.d/<drop-in>`, a user. */
function namedEntries(config: IgnitionConfig): NamedEntry[] {
  const { files = [], directories = [], links = [] } = config.storage ?? {};
  const units = config.systemd?.units ?? [];
  return [
    ...files.map((value) => ({ name: value.path, list: 'file', value })),
    ...directories.map((value) => ({ name: value.path, list: 'directory', value })),
    ...links.map((value) => ({ name: value.path, list: 'link', value })),
    ...units.map(({ dropins: _, ...value }) => ({ name: value.name, list: 'unit', value })),
    ...units.flatMap((unit) =>
      (unit.dropins ?? []).map((value) => ({
        name: `${unit.name}.d/${value.name}`,
        list: 'drop-in',
        value,
      })),
    ),
    ...(config.passwd?.users ?? []).map((value) => ({
      name: `user ${value.name}`,
      list: 'user',
      value,
    })),
  ];
}

/**
 * @throws Failure (fatal) that names each entry of `wanted`, except the excluded
 *   ones, that is missing or different in `merged`.
 */
function refuseLosses(
  wanted: Originated,
  merged: IgnitionConfig,
  other: Originated,
  excepted: ReadonlySet<string> = new Set(),
): void {
  const collisions = lost(wanted.config, merged).filter(({ entry }) => !excepted.has(entry));
  if (collisions.length === 0) return;
  const origins = `${wanted.origin}, ${other.origin}`;
  const lines = collisions.map(({ entry, field }) => `\n  ${entry} (${field}): ${origins}`);
  throw new Failure(
    'fatal',
    `Two Ignition configs define the same entry, and only one can take effect:${lines.join('')}`,
  );
}

/** The values of `wanted` that `merged` lacks, or that an added field changes. */
function lost(wanted: IgnitionConfig, merged: IgnitionConfig): Collision[] {
  const got = new Map(
    namedEntries(merged).map(({ name, list, value }) => [`${list} ${name}`, value]),
  );
  return namedEntries(wanted).flatMap(({ name, list, value }) => {
    const result = got.get(`${list} ${name}`);
    if (result === undefined) return [{ entry: name, field: `the ${list}` }];
    const added = list === 'user' || list === 'directory' ? [] : addedFields(value, result);
    return [...lostFields(value, result), ...added].map((field) => ({ entry: name, field }));
  });
}

function lostFields(wanted: Fields, got: Fields): string[] {
  return Object.entries(wanted)
    .filter(([field, value]) => !comesThrough(value, got[field]))
    .map(([field]) => field);
}

/**
 * Fields that another config adds to an entry, such as appended contents or a mask.
 * An entry that has only a name (a unit with drop-ins) permits that; root as the
 * owner is the default anyway.
 */
function addedFields(wanted: Fields, got: Fields): string[] {
  if (Object.keys(wanted).length === 1) return [];
  return Object.entries(got)
    .filter(([field, value]) => wanted[field] === undefined && !isRoot(field, value))
    .map(([field]) => field);
}

function isRoot(field: string, value: unknown): boolean {
  if ((field !== 'user' && field !== 'group') || !isRecord(value)) return false;
  return (value.id ?? 0) === 0 && (value.name ?? 'root') === 'root';
}

function comesThrough(wanted: unknown, got: unknown): boolean {
  if (!Array.isArray(wanted)) return isDeepStrictEqual(wanted, got);
  const known = new Map(Array.isArray(got) ? got.map((item) => [entryKey(item), item]) : []);
  return wanted.every((item) => isDeepStrictEqual(item, known.get(entryKey(item))));
}
