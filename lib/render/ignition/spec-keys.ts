/** The keys of a mapping, also of each one in a list, and what is below them. */
export interface SpecKeys {
  readonly [key: string]: SpecKeys;
}

const keys = (...names: readonly string[]): SpecKeys =>
  Object.fromEntries(names.map((name) => [name, {}]));

const resource: SpecKeys = {
  ...keys('source', 'compression'),
  verification: keys('hash'),
  httpHeaders: keys('name', 'value'),
};
const node: SpecKeys = {
  ...keys('path', 'overwrite'),
  user: keys('id', 'name'),
  group: keys('id', 'name'),
};

/** Every key of Ignition's specs 3.0.0 to 3.5.0 (config/v3_5/types/schema.go of its source; later specs add keys only). */
export const SPEC_KEYS: SpecKeys = {
  ignition: {
    ...keys('version'),
    config: { merge: resource, replace: resource },
    timeouts: keys('httpResponseHeaders', 'httpTotal'),
    security: { tls: { certificateAuthorities: resource } },
    proxy: keys('httpProxy', 'httpsProxy', 'noProxy'),
  },
  kernelArguments: keys('shouldExist', 'shouldNotExist'),
  passwd: {
    users: keys(
      ...['name', 'passwordHash', 'sshAuthorizedKeys', 'uid', 'gecos', 'homeDir', 'noCreateHome'],
      ...['primaryGroup', 'groups', 'noUserGroup', 'noLogInit', 'shell', 'shouldExist', 'system'],
    ),
    groups: keys('name', 'gid', 'passwordHash', 'shouldExist', 'system'),
  },
  storage: {
    directories: { ...node, ...keys('mode') },
    files: { ...node, ...keys('mode'), contents: resource, append: resource },
    links: { ...node, ...keys('target', 'hard') },
    disks: {
      ...keys('device', 'wipeTable'),
      partitions: keys(
        ...['label', 'number', 'sizeMiB', 'startMiB', 'typeGuid', 'guid', 'resize'],
        ...['wipePartitionEntry', 'shouldExist'],
      ),
    },
    filesystems: keys(
      ...['device', 'format', 'label', 'uuid', 'path', 'options', 'mountOptions', 'wipeFilesystem'],
    ),
    raid: keys('name', 'level', 'devices', 'spares', 'options'),
    luks: {
      ...keys('name', 'device', 'label', 'uuid', 'options', 'openOptions', 'discard', 'wipeVolume'),
      keyFile: resource,
      cex: keys('enabled'),
      clevis: {
        ...keys('tpm2', 'threshold'),
        custom: keys('pin', 'config', 'needsNetwork'),
        tang: keys('url', 'thumbprint', 'advertisement'),
      },
    },
  },
  systemd: {
    units: {
      ...keys('name', 'enabled', 'mask', 'contents'),
      dropins: keys('name', 'contents'),
    },
  },
};
