import { isRecord } from '../../base/json.ts';
import { configSchema, highestVersion, type IgnitionConfig } from './config.ts';

/**
 * The result of Ignition's merge when a config names a child in
 * `ignition.config.merge` (operator notes, "Config merging"): the child wins, field
 * by field. Entries of a list are matched by a key; files, directories and links
 * share one set of keys, so a child's file replaces the parent's directory at the
 * same path. A few lists are appended instead. The result is the host's effective
 * config and is not written anywhere: its version is the higher of the two.
 */
export function mergeConfigs(parent: IgnitionConfig, child: IgnitionConfig): IgnitionConfig {
  const merged = configSchema.parse(mergeRecords(parent, child));
  const version = highestVersion(parent.ignition.version, child.ignition.version);
  return { ...merged, ignition: { ...merged.ignition, version } };
}

type Entry = Record<string, unknown>;

/** Lists whose entries are all kept, the parent's first. */
const APPENDED = new Set(['append', 'options', 'mountOptions']);

/** Lists that share their keys: an entry in one replaces an entry in another. */
const SHARED_KEYS: readonly (readonly string[])[] = [
  ['files', 'directories', 'links'],
  ['shouldExist', 'shouldNotExist'],
];

/**
 * The fields that can identify an entry: a filesystem has a path too, but its key
 * is the device.
 */
const KEY_FIELDS = ['name', 'device', 'path', 'source', 'url'];

function mergeRecords(parent: Entry, child: Entry): Entry {
  const merged: Entry = { ...parent };
  for (const [field, value] of Object.entries(child)) {
    merged[field] = mergeField(field, parent[field], value);
  }
  for (const group of SHARED_KEYS) {
    for (const field of group) {
      const list = merged[field];
      if (!Array.isArray(list)) continue;
      const taken = keysOf(
        child,
        group.filter((other) => other !== field),
      );
      merged[field] = list.filter((item) => !taken.has(entryKey(item)));
    }
  }
  return merged;
}

function mergeField(field: string, parent: unknown, child: unknown): unknown {
  if (isRecord(parent) && isRecord(child)) return mergeRecords(parent, child);
  if (!Array.isArray(child)) return child;
  const before: unknown[] = Array.isArray(parent) ? parent : [];
  return APPENDED.has(field) ? [...before, ...child] : mergeLists(field, before, child);
}

function mergeLists(field: string, parent: readonly unknown[], child: readonly unknown[]) {
  const ofChild = new Map(child.map((item) => [entryKey(item), item]));
  const known = new Set(parent.map(entryKey));
  const kept = parent.flatMap((item) => {
    const override = ofChild.get(entryKey(item));
    if (override === undefined) return [item];
    // A header without a value removes the parent's.
    if (field === 'httpHeaders' && isRecord(override) && override.value === undefined) return [];
    return [mergeField(field, item, override)];
  });
  return [...kept, ...child.filter((item) => !known.has(entryKey(item)))];
}

function keysOf(config: Entry, fields: readonly string[]): Set<string> {
  return new Set(
    fields.flatMap((field) => {
      const list = config[field];
      return Array.isArray(list) ? list.map(entryKey) : [];
    }),
  );
}

/** The key that matches an entry of the parent with one of the child. */
export function entryKey(item: unknown): string {
  if (!isRecord(item)) return String(item);
  if (typeof item.number === 'number' && item.number !== 0) return `#${item.number}`;
  for (const field of [...KEY_FIELDS, 'label']) {
    const value = item[field];
    if (typeof value === 'string') return value;
  }
  return JSON.stringify(item);
}
