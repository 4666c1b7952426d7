import { join } from 'node:path/posix';
import { decodeDataUrl, isDataUrl } from '../../base/data-url.ts';
import { isRecord } from '../../base/json.ts';
import type { ConfigFault, File, IgnitionConfig, IgnitionUnit } from './config.ts';

/** The entries of an effective config, as a running system can apply them. */
export interface PlainEntries {
  readonly directories: readonly { readonly path: string; readonly mode: number }[];
  readonly files: readonly PlainFile[];
  readonly links: readonly { readonly path: string; readonly target: string }[];
  /** Units to be enabled, and to be disabled. */
  readonly enabled: readonly string[];
  readonly disabled: readonly string[];
}

export interface PlainFile {
  readonly path: string;
  readonly mode: number;
  readonly contents: Buffer;
}

/** Ignition's defaults. */
const MODES = { directory: 0o755, file: 0o644 } as const;

/**
 * Parents before what is in them. Units become files below `unitFolder`. Users are left out: the host has them, or the
 * config is refused.
 *
 * @param config without faults of `inapplicable`
 */
export function plainEntries(config: IgnitionConfig, unitFolder: string): PlainEntries {
  const { directories = [], files = [], links = [] } = config.storage ?? {};
  const units = config.systemd?.units ?? [];
  const named = (isEnabled: boolean) =>
    units.filter(({ enabled }) => enabled === isEnabled).map(({ name }) => name);
  return {
    directories: directories
      .map(({ path, mode = MODES.directory }) => ({ path, mode }))
      .toSorted((a, b) => a.path.split('/').length - b.path.split('/').length),
    files: [
      ...files.map(({ path, mode = MODES.file, contents = {} }) => ({
        ...{ path, mode, contents: contents.source ? decodeDataUrl(contents) : Buffer.alloc(0) },
      })),
      ...units.flatMap((unit) => unitFiles(unit, unitFolder)),
    ],
    links: [
      ...links.map(({ path, target = '' }) => ({ path, target })),
      ...units
        .filter(({ mask }) => mask === true)
        .map(({ name }) => ({ path: join(unitFolder, name), target: '/dev/null' })),
    ],
    enabled: named(true),
    disabled: named(false),
  };
}

function unitFiles({ name, contents, dropins = [] }: IgnitionUnit, folder: string): PlainFile[] {
  const texts = [
    ...(contents === undefined ? [] : [{ path: join(folder, name), text: contents }]),
    ...dropins.map((dropin) => ({
      path: join(folder, `${name}.d`, dropin.name),
      text: dropin.contents ?? '',
    })),
  ];
  return texts.map(({ path, text }) => ({ path, mode: MODES.file, contents: Buffer.from(text) }));
}

/**
 * What only Ignition itself can do, before a system runs from the disk: each entry by its name. A system that is running
 * must refuse it.
 */
export function inapplicable(config: IgnitionConfig): ConfigFault[] {
  const { ignition: _, storage = {}, systemd: _units, passwd = {}, ...sections } = config;
  const { directories = [], files = [], links = [], ...disks } = storage;
  const { users = [], ...otherAccounts } = passwd;
  const named = (prefix: string, record: Readonly<Record<string, unknown>>) =>
    Object.entries(record).flatMap(([name, value]) => (isEmpty(value) ? [] : [`${prefix}${name}`]));
  return [
    ...[
      ...named('', sections),
      ...named('storage.', disks),
      ...named('passwd.', otherAccounts),
    ].map((at) => ({ at, problem: 'is applied before a system starts from its disk' })),
    ...users.flatMap(({ name, sshAuthorizedKeys: _keys, groups: _groups, ...rest }) =>
      name === 'core' && Object.values(rest).every(isEmpty)
        ? []
        : [{ at: `passwd.users ${name}`, problem: 'is created before a system starts' }],
    ),
    ...[...directories, ...files, ...links].flatMap((entry) =>
      isOfRoot(entry) ? [] : [{ at: entry.path, problem: 'belongs to another owner than root' }],
    ),
    ...files.flatMap(fileFaults),
    ...links.flatMap(({ path, hard }) =>
      hard === true ? [{ at: path, problem: 'is a hard link' }] : [],
    ),
  ];
}

function fileFaults({ path, contents, append = [] }: File): ConfigFault[] {
  if (append.length > 0) return [{ at: path, problem: 'appends to a file' }];
  if (contents?.source === undefined || isDataUrl(contents.source)) return [];
  return [{ at: path, problem: 'is fetched from elsewhere' }];
}

const isOfRoot = ({ user, group }: Pick<File, 'user' | 'group'>) =>
  [user, group].every(
    (owner) => owner === undefined || ((owner.id ?? 0) === 0 && (owner.name ?? 'root') === 'root'),
  );

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  (Array.isArray(value) && value.length === 0) ||
  (isRecord(value) && Object.values(value).every(isEmpty));
