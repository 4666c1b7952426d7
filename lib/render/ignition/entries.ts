import { dirname } from 'node:path/posix';
import type { Directory, File, IgnitionConfig, IgnitionUnit, Link, User } from './config.ts';
import { type DataUrlOptions, dataUrl } from './data-url.ts';

/** The spec of everything written here; Ignition reads every older 3.x. */
export const BASE_SPEC = '3.2.0';

/**
 * Directories of the operating system: never listed, because Ignition would set
 * their modes (and /opt and /root are symlinks on CoreOS).
 */
const SYSTEM_DIRECTORIES: ReadonlySet<string> = new Set(
  [
    '/ /boot /etc /home /mnt /opt /root /run /srv /tmp /usr /usr/lib /usr/local /usr/local/bin',
    '/usr/local/lib /usr/local/sbin /var /var/lib /var/log /var/opt /var/tmp /etc/containers',
    '/etc/cron.d /etc/NetworkManager /etc/NetworkManager/system-connections /etc/profile.d',
    '/etc/ssh /etc/ssl /etc/ssl/certs /etc/sysctl.d /etc/systemd /etc/systemd/network',
    '/etc/systemd/system /etc/tmpfiles.d /etc/modules-load.d /etc/modprobe.d /etc/pki',
    '/etc/pki/ca-trust /etc/pki/ca-trust/source /etc/pki/ca-trust/source/anchors',
    '/etc/containers/registries.conf.d',
  ].flatMap((line) => line.split(' ')),
);

export interface FileOptions extends Partial<DataUrlOptions> {
  /**
   * Whether an existing file of the image is replaced; otherwise Ignition fails
   * there. Default true.
   */
  overwrite?: boolean;
}

/** A regular file owned by root, with its full contents. `mode` is a number, such as 0o600. */
export function file(
  path: string,
  mode: number,
  contents: string | Uint8Array,
  { overwrite = true, gzip = true }: FileOptions = {},
): File {
  return { path, mode, overwrite, contents: dataUrl(contents, { gzip }) };
}

export function directory(path: string, mode: number): Directory {
  return { path, mode };
}

export function link(path: string, target: string): Link {
  return { path, target, overwrite: true };
}

/** A unit; without contents, it enables a unit of the operating system or adds drop-ins to it. */
export function unit(name: string, options: Omit<IgnitionUnit, 'name'>): IgnitionUnit {
  return { name, ...options };
}

/**
 * Adds drop-ins to units: to the listed ones, and as separate entries for those of
 * the operating system.
 */
export function withDropins(
  units: readonly IgnitionUnit[],
  dropins: readonly { unit: string; name: string; contents: string }[],
): IgnitionUnit[] {
  const own = new Set(units.map(({ name }) => name));
  const others = new Set(dropins.map(({ unit }) => unit).filter((name) => !own.has(name)));
  return [...units, ...[...others].map((name): IgnitionUnit => ({ name }))].map((each) => {
    const added = dropins.filter(({ unit }) => unit === each.name);
    if (added.length === 0) return each;
    const parts = added.map(({ name, contents }) => ({ name, contents }));
    return { ...each, dropins: [...(each.dropins ?? []), ...parts] };
  });
}

export function user(name: string, options: Omit<User, 'name'>): User {
  return { name, ...options };
}

export interface Entries {
  directories?: readonly Directory[];
  files?: readonly File[];
  links?: readonly Link[];
  units?: readonly IgnitionUnit[];
  users?: readonly User[];
}

/**
 * A config of these entries, in an order that depends on their names only. Parent
 * directories that are not the operating system's are listed too, with mode 0755
 * unless given: Ignition chooses the mode of a parent that is not listed.
 */
export function configOf(entries: Entries, version: string = BASE_SPEC): IgnitionConfig {
  const { directories = [], files = [], links = [], units = [], users = [] } = entries;
  const all = [...directories, ...parentsOf(directories, files, links)];
  const storage = {
    ...listed(
      'directories',
      byKey(all, ({ path }) => path),
    ),
    ...listed(
      'files',
      byKey(files, ({ path }) => path),
    ),
    ...listed(
      'links',
      byKey(links, ({ path }) => path),
    ),
  };
  const sortedUnits = byKey(units, ({ name }) => name).map((each) =>
    each.dropins === undefined ? each : { ...each, dropins: byKey(each.dropins, (d) => d.name) },
  );
  const sortedUsers = byKey(users, ({ name }) => name);
  return {
    ignition: { version },
    ...(sortedUsers.length === 0 ? {} : { passwd: { users: sortedUsers } }),
    ...(Object.keys(storage).length === 0 ? {} : { storage }),
    ...(sortedUnits.length === 0 ? {} : { systemd: { units: sortedUnits } }),
  };
}

function parentsOf(
  directories: readonly Directory[],
  files: readonly File[],
  links: readonly Link[],
): Directory[] {
  const known = new Set([...directories, ...links].map(({ path }) => path));
  const parents = new Set<string>();
  for (const { path } of [...directories, ...files, ...links]) {
    for (let at = dirname(path); at !== '/'; at = dirname(at)) {
      if (!SYSTEM_DIRECTORIES.has(at) && !known.has(at)) parents.add(at);
    }
  }
  return [...parents].map((path) => directory(path, 0o755));
}

function listed<Name extends string, Item>(
  name: Name,
  items: Item[],
): Partial<Record<Name, Item[]>> {
  const result: Partial<Record<Name, Item[]>> = {};
  if (items.length > 0) result[name] = items;
  return result;
}

/** By bytes, so that the order does not depend on the locale. */
function byKey<Item>(items: readonly Item[], key: (item: Item) => string): Item[] {
  return items.toSorted((a, b) => Buffer.compare(Buffer.from(key(a)), Buffer.from(key(b))));
}
