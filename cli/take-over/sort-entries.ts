import { isDeepStrictEqual } from 'node:util';
import { decodeDataUrl, isDataUrl } from '../../lib/base/data-url.ts';
import { isRecord } from '../../lib/base/json.ts';
import type {
  IgnitionConfig,
  IgnitionResource,
  IgnitionUnit,
} from '../../lib/render/ignition/config.ts';
import {
  type Fate,
  type InstallerEntry,
  installerEntries,
  passivePlaces,
} from './installer-entries.ts';

/** An entry of the installer's config, and what becomes of it. */
export interface SortedEntry {
  /** As in the table; a file of a folder has its own path. */
  readonly at: string;
  readonly fate: Fate;
  readonly why: string;
  /** In the table, as opposed to added by somebody else. */
  readonly isKnown: boolean;
}

export interface SortedConfig {
  /** The config with what is kept, and nothing else. */
  readonly kept: IgnitionConfig;
  readonly entries: readonly SortedEntry[];
  /** Names of entries that nothing is known about, and of sections of the config. */
  readonly unknown: readonly string[];
  /** Required entries that do not exist. */
  readonly missing: readonly string[];
}

/** Why an entry is kept that is not in the table. */
const CONFIGURATION = 'not written by the installer; configuration that starts nothing';
const ASKED = 'unknown; kept by --keep';

/**
 * Decides for each entry of the installer's config by the table, and for `keep` by request. The
 * result is complete: every entry is in `entries`, or in `unknown`.
 */
export function sortEntries(config: IgnitionConfig, keep: ReadonlySet<string>): SortedConfig {
  const sorter = new Sorter(namesIn(config), keep);
  const { files = [], directories = [], links = [] } = config.storage ?? {};
  const units = config.systemd?.units ?? [];
  const kept: IgnitionConfig = {
    ignition: config.ignition,
    ...(config.passwd === undefined ? {} : { passwd: config.passwd }),
    storage: {
      directories: directories.filter(({ path }) => sorter.isKept(path)),
      files: files.filter((file) => sorter.isKept(file.path, resourcesOf(file))),
      links: links.filter(({ path }) => sorter.isKept(path)),
    },
    systemd: { units: units.flatMap((unit) => sorter.keptPart(unit)) },
  };
  const present = new Set(namesIn(config));
  return {
    kept,
    entries: sorter.entries,
    unknown: [...sorter.unknown, ...unknownSections(config)],
    missing: installerEntries
      .filter(({ at, isRequired }) => isRequired && !present.has(at))
      .map(({ at }) => at),
  };
}

class Sorter {
  readonly entries: SortedEntry[] = [];
  readonly unknown: string[] = [];
  readonly #present: ReadonlySet<string>;
  readonly #keep: ReadonlySet<string>;

  constructor(present: readonly string[], keep: ReadonlySet<string>) {
    this.#present = new Set(present);
    this.#keep = keep;
  }

  /** Records the entry's fate. */
  isKept(at: string, contents: readonly IgnitionResource[] = []): boolean {
    const fate = this.#fateOf(at, contents.every(isEmpty));
    if (fate === undefined) {
      this.unknown.push(at);
      return false;
    }
    this.entries.push({ at, ...fate });
    return fate.fate === 'kept';
  }

  /**
   * The unit with the drop-ins that are kept, if any of it is. An entry that only adds drop-ins to a
   * unit of the operating system says nothing about the unit.
   */
  keptPart(unit: IgnitionUnit): IgnitionUnit[] {
    const { name, dropins = [], ...rest } = unit;
    const isUnit = Object.values(rest).some((value) => value !== undefined);
    const isKept = isUnit && this.isKept(name, contentsOf(unit));
    const kept = dropins.filter((dropin) => this.isKept(`${name}.d/${dropin.name}`));
    const withDropins = kept.length === 0 ? {} : { dropins: kept };
    if (isKept) return [{ name, ...rest, ...withDropins }];
    return kept.length === 0 ? [] : [{ name, ...withDropins }];
  }

  #fateOf(at: string, hasNoContents: boolean): Omit<SortedEntry, 'at'> | undefined {
    const entry = installerEntryFor(at);
    if (entry !== undefined && (entry.isEmpty === undefined || hasNoContents)) {
      const { fate, why, neededBy } = entry;
      const isUsed = neededBy === undefined || this.#present.has(neededBy);
      return isUsed
        ? { fate, why, isKnown: true }
        : { fate: 'dropped', why: `nothing needs it without ${neededBy}`, isKnown: true };
    }
    if (this.#keep.has(at)) return { fate: 'kept', why: ASKED, isKnown: false };
    if (passivePlaces.some((place) => isBelow(at, place))) {
      return { fate: 'kept', why: CONFIGURATION, isKnown: false };
    }
    return undefined;
  }
}

/** The row of the table for a path or name. */
export function installerEntryFor(at: string): InstallerEntry | undefined {
  return installerEntries.find((entry) => isBelow(at, entry.at));
}

const isBelow = (at: string, place: string) =>
  at === place || (place.endsWith('/') && (at.startsWith(place) || `${at}/` === place));

/** Every path, unit and drop-in. */
function namesIn({ storage, systemd }: IgnitionConfig): string[] {
  const { files = [], directories = [], links = [] } = storage ?? {};
  return [
    ...[...files, ...directories, ...links].map(({ path }) => path),
    ...(systemd?.units ?? []).flatMap(({ name, dropins = [] }) => [
      name,
      ...dropins.map((dropin) => `${name}.d/${dropin.name}`),
    ]),
  ];
}

const contentsOf = ({ contents }: IgnitionUnit): IgnitionResource[] =>
  contents === undefined ? [] : [{ source: `data:,${encodeURIComponent(contents)}` }];

function resourcesOf({
  contents,
  append = [],
}: {
  contents?: IgnitionResource | undefined;
  append?: IgnitionResource[] | undefined;
}) {
  return contents === undefined ? append : [contents, ...append];
}

function isEmpty(resource: IgnitionResource): boolean {
  if (resource.source === undefined) return true;
  return isDataUrl(resource.source) && decodeDataUrl(resource).toString('utf8').trim() === '';
}

/** The sections that are read here; an empty one of another name says nothing. */
const SECTIONS: Readonly<Record<string, readonly string[]>> = {
  ignition: ['version', 'security', 'timeouts', 'proxy'],
  passwd: ['users', 'groups'],
  storage: ['files', 'directories', 'links'],
  systemd: ['units'],
};

function unknownSections(config: IgnitionConfig): string[] {
  return Object.entries(config).flatMap(([section, value]) => {
    const known = SECTIONS[section];
    if (known === undefined || !isRecord(value)) return hasContents(value) ? [section] : [];
    return Object.entries(value)
      .filter(([name, part]) => !known.includes(name) && hasContents(part))
      .map(([name]) => `${section}.${name}`);
  });
}

const hasContents = (value: unknown) =>
  value !== undefined && !isDeepStrictEqual(value, {}) && !isDeepStrictEqual(value, []);
