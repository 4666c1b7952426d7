import type { PreflightCheck } from '../../lib/cluster/cluster.ts';
import { jsonPath } from '../../lib/ignition/config.ts';
import { DISK_VARIABLE, readDiskVariable } from './disk.ts';
import { type ConfigDocument, readDocument } from './document.ts';
import { type Fault, foundText, inOrder } from './fault.ts';
import { FIELDS, fieldsBelow, NOT_SUPPORTED, SECRET_FIELDS } from './fields.ts';
import { networksOf } from './network-defaults.ts';
import { networkFaults } from './network-faults.ts';
import { type InstallConfig, installConfigSchema } from './schema.ts';
import { sshKeys } from './secrets.ts';
import { siteFaults } from './site-faults.ts';
import { type SiteSettings, siteSettings } from './site-settings.ts';
import { suggest } from './suggest.ts';

/** What the user decided, with every default filled in. */
export interface InstallSettings {
  name: string;
  baseDomain: string;
  hostname?: string;
  networkType?: string;
  machineNetwork: string[];
  clusterNetwork: { cidr: string; hostPrefix: number }[];
  serviceNetwork: string[];
  disk: string;
  coreosInstallerArgs: string[];
  existingSystem: 'refuse' | 'overwrite';
  preflightWarnings: PreflightCheck[];
  pullSecret: string;
  sshKeys: string[];
  site: SiteSettings;
}

export type ReadSettings = { ok: true; settings: InstallSettings } | { ok: false; faults: Fault[] };

/**
 * Reads the text of install-config.yaml and the value of DISK_VARIABLE, and finds all
 * faults of both at once.
 */
export function readSettings(text: string, diskVariable: string | undefined): ReadSettings {
  const document = readDocument(text);
  const faults = [...document.faults];
  const given = readDiskVariable(diskVariable);
  if ('fault' in given) faults.push(given.fault);
  const unreadable = document.value === undefined && faults.length > 0;
  const value = withoutNulls(document.value) ?? {};
  const parsed = installConfigSchema.safeParse(value);
  if (!unreadable) {
    if (!parsed.success) faults.push(...schemaFaults(parsed.error.issues, value, document));
    faults.push(...networkFaults(value, document));
    faults.push(...siteFaults(value, document, 'fault' in given ? [] : given.rest));
    const inFile = get(value, ['bootstrapInPlace', 'installationDisk']);
    faults.push(...diskFaults(inFile, 'fault' in given ? undefined : given.disk, given, document));
  }
  const disk = 'fault' in given ? undefined : given.disk;
  if (!parsed.success || 'fault' in given || faults.length > 0) {
    return { ok: false, faults: inOrder(faults) };
  }
  return { ok: true, settings: settingsOf(parsed.data, disk, given.rest) };
}

function settingsOf(config: InstallConfig, disk: string | undefined, args: string[]) {
  const { networking = {}, bootstrapInPlace = {} } = config;
  const {
    hostname,
    existingSystem = 'refuse',
    installationDisk,
    preflightWarnings = [],
  } = bootstrapInPlace;
  const { networkType } = networking;
  const networks = networksOf(networking);
  const settings: InstallSettings = {
    name: config.metadata.name,
    baseDomain: config.baseDomain,
    ...(hostname === undefined ? {} : { hostname }),
    ...(networkType === undefined ? {} : { networkType }),
    ...networks,
    disk: installationDisk ?? disk ?? '',
    coreosInstallerArgs: args,
    existingSystem,
    preflightWarnings,
    pullSecret: config.pullSecret,
    sshKeys: sshKeys(config.sshKey ?? ''),
    site: siteSettings(config, networks),
  };
  return settings;
}

interface Issue {
  readonly code: string;
  readonly path: readonly PropertyKey[];
  readonly keys?: readonly string[];
}

function schemaFaults(issues: readonly Issue[], root: unknown, document: ConfigDocument): Fault[] {
  const known = new Map<string, Fault>();
  for (const { code, path, keys = [] } of issues) {
    const faults =
      code === 'unrecognized_keys'
        ? keys.map((key) => unknownField([...path, key], root, document))
        : [wrongValue(path, root, document)];
    for (const fault of faults) if (!known.has(fault.field)) known.set(fault.field, fault);
  }
  return [...known.values()];
}

function wrongValue(path: readonly PropertyKey[], root: unknown, document: ConfigDocument): Fault {
  const value = get(root, path);
  const field = FIELDS[pattern(path)] ?? { expected: 'another value', fix: 'Correct it.' };
  const { expected, fix, found } = typeof field === 'function' ? field(value) : field;
  return {
    position: document.positionOf(path),
    field: jsonPath(path),
    expected,
    found: found ?? shown(value, expected, SECRET_FIELDS.has(pattern(path))),
    fix,
  };
}

/** A number in quotes looks like the number itself: say that it is a text. */
function shown(value: unknown, expected: string, secret: boolean): string {
  const found = foundText(value, secret);
  return typeof value === 'string' && value === expected ? `the text ${found}` : found;
}

function unknownField(
  path: readonly PropertyKey[],
  root: unknown,
  document: ConfigDocument,
): Fault {
  const position = document.positionOf(path, 'key');
  const field = jsonPath(path);
  const parent = pattern(path.slice(0, -1));
  const found = foundText(get(root, path), true);
  const replacement = NOT_SUPPORTED[pattern(path)];
  if (replacement !== undefined) {
    const fix =
      replacement === ''
        ? 'Remove it: the OpenShift installer has this field, but it is not supported yet.'
        : `Use ${replacement} instead: this one is not supported.`;
    return { position, field, expected: 'no such field', found, fix };
  }
  const siblings = fieldsBelow(parent);
  const near = suggest(String(path.at(-1)), siblings);
  const fix =
    near === undefined
      ? `Remove it${siblings.length === 0 ? '' : `, or use one of ${siblings.join(', ')}`}.`
      : `Did you mean ${near}?`;
  return { position, field, expected: 'a known field', found, fix };
}

function diskFaults(
  inFile: unknown,
  inVariable: string | undefined,
  given: object,
  document: ConfigDocument,
): Fault[] {
  const path = ['bootstrapInPlace', 'installationDisk'];
  const position = document.positionOf(path);
  const field = 'bootstrapInPlace.installationDisk';
  if (inFile === undefined && inVariable === undefined && !('fault' in given)) {
    const fix = `Name the disk that will be written, here or in ${DISK_VARIABLE}.`;
    return [{ position, field, expected: 'the path of a disk below /dev', found: 'nothing', fix }];
  }
  if (typeof inFile !== 'string' || inVariable === undefined || inFile === inVariable) return [];
  const found = `${foundText(inFile)} here and ${JSON.stringify(inVariable)} in ${DISK_VARIABLE}`;
  return [
    { position, field, expected: 'one disk', found, fix: 'Give it in one of the two places.' },
  ];
}

/** The path with list positions left out, as in FIELDS. */
function pattern(path: readonly PropertyKey[]): string {
  return jsonPath(path) === '(file)' ? '' : jsonPath(path).replace(/\[\d+\]/g, '[]');
}

function get(root: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, part) =>
      typeof value === 'object' && value !== null ? Reflect.get(value, part) : undefined,
    root,
  );
}

/** A key without a value is a field that was left out, as for the installer. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]) =>
      item === null ? [] : [[key, withoutNulls(item)]],
    ),
  );
}
