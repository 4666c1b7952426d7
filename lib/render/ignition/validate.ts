import { dirname } from 'node:path/posix';
import { decodeDataUrl, isDataUrl } from '../../base/data-url.ts';
import { describeError } from '../../base/errors/failure.ts';
import {
  type ConfigFault,
  type File,
  type IgnitionConfig,
  type IgnitionResource,
  readConfig,
} from './config.ts';
import { matchesHash } from './data-url.ts';
import { mergeConfigs } from './merge.ts';

export interface ValidateOptions {
  /** Maximum size of the whole text in bytes, such as the free space of the boot partition. */
  limitBytes?: number | undefined;
}

/**
 * Everything that is wrong with a config, so that it fails where it is created and
 * not at a host's first boot: the schema; duplicate paths; contents that cannot be
 * decoded or do not match their hash; paths below a file or a symlink; private keys
 * readable by others; the size. Configs inside data URLs are checked too; remote
 * ones are not fetched.
 */
export function validateConfigText(text: string, options: ValidateOptions = {}): ConfigFault[] {
  const size = sizeFaults(text, options);
  const read = readConfig(text);
  if (!read.ok) return [...size, ...read.faults];
  const effective = effectiveConfig(read.config);
  return [
    ...size,
    ...entryFaults(read.config, ''),
    ...effective.faults,
    ...hierarchyFaults(effective.config),
  ];
}

/**
 * The effective config once Ignition has merged the configs that it names, if they
 * are data URLs. A reference that cannot be followed is a fault.
 */
export function effectiveConfig(config: IgnitionConfig): {
  config: IgnitionConfig;
  faults: ConfigFault[];
} {
  return followReferences(config, '');
}

function followReferences(
  config: IgnitionConfig,
  prefix: string,
): { config: IgnitionConfig; faults: ConfigFault[] } {
  const { merge = [], replace } = config.ignition.config ?? {};
  const faults: ConfigFault[] = [];
  const follow = (reference: IgnitionResource, at: string): IgnitionConfig | undefined => {
    if (!isDataUrl(reference.source)) {
      faults.push({ at, problem: 'references a remote config, whose contents are unknown' });
      return undefined;
    }
    const read = readReference(reference);
    if (!read.ok) {
      faults.push(...read.faults.map((fault) => ({ ...fault, at: `${at}: ${fault.at}` })));
      return undefined;
    }
    faults.push(...entryFaults(read.config, `${at}: `));
    const followed = followReferences(read.config, `${at}: `);
    faults.push(...followed.faults);
    return followed.config;
  };
  if (replace?.source !== undefined) {
    const replacement = follow(replace, `${prefix}ignition.config.replace`);
    return { config: replacement ?? config, faults };
  }
  const merged = merge.reduce((parent, reference, index) => {
    const child = follow(reference, `${prefix}ignition.config.merge[${index}]`);
    return child === undefined ? parent : mergeConfigs(parent, child);
  }, config);
  return { config: merged, faults };
}

function readReference(reference: IgnitionResource): ReturnType<typeof readConfig> {
  try {
    const bytes = decodeDataUrl(reference);
    if (matchesHash(reference, bytes)) return readConfig(bytes.toString('utf8'));
    return {
      ok: false,
      faults: [{ at: 'verification.hash', problem: 'does not match the contents' }],
    };
  } catch (error) {
    return { ok: false, faults: [{ at: 'source', problem: describeError(error) }] };
  }
}

function sizeFaults(text: string, { limitBytes }: ValidateOptions): ConfigFault[] {
  const bytes = Buffer.byteLength(text);
  if (limitBytes === undefined || bytes <= limitBytes) return [];
  return [{ at: '(file)', problem: `has ${bytes} bytes, and only ${limitBytes} fit` }];
}

/** Faults within one config. */
function entryFaults(config: IgnitionConfig, prefix: string): ConfigFault[] {
  const { files = [], directories = [], links = [] } = config.storage ?? {};
  const units = config.systemd?.units ?? [];
  const nodes = [
    ...files.map(({ path }) => path),
    ...directories.map(({ path }) => path),
    ...links.map(({ path }) => path),
  ];
  const faults = [
    ...duplicates(nodes).map((path) => ({ at: path, problem: 'is defined more than once' })),
    ...duplicates(units.map(({ name }) => name)).map((name) => ({
      at: name,
      problem: 'is defined more than once',
    })),
    ...units.flatMap(({ name, dropins = [] }) =>
      duplicates(dropins.map((dropin) => dropin.name)).map((dropin) => ({
        at: `${name}.d/${dropin}`,
        problem: 'is defined more than once',
      })),
    ),
    ...files.flatMap(fileFaults),
  ];
  return faults.map((fault) => ({ ...fault, at: `${prefix}${fault.at}` }));
}

function fileFaults(file: File): ConfigFault[] {
  const { path, mode, contents, append = [] } = file;
  if (file.overwrite === true && contents?.source === undefined) {
    return [{ at: path, problem: 'has overwrite but no contents' }];
  }
  const resources = contents === undefined ? append : [contents, ...append];
  return resources.flatMap((resource) => {
    if (!isDataUrl(resource.source)) return [];
    let bytes: Buffer;
    try {
      bytes = decodeDataUrl(resource);
    } catch (error) {
      return [{ at: path, problem: `has contents that cannot be read: ${describeError(error)}` }];
    }
    const faults: ConfigFault[] = [];
    if (!matchesHash(resource, bytes)) {
      faults.push({
        at: path,
        problem: 'has a verification.hash that does not match its contents',
      });
    }
    // The group of a person's own: that of the certificates, for one.
    const others = file.group === undefined ? 0o177 : 0o137;
    if (holdsPrivateKey(bytes) && (mode === undefined || (mode & others) !== 0)) {
      const found = mode === undefined ? 'none' : `0${mode.toString(8)}`;
      faults.push({
        at: path,
        problem: `contains a private key: expected mode 0600, found ${found}`,
      });
    }
    return faults;
  });
}

/** Its first line, which ends behind the dashes: a script or a rule may search for it. The ends may be escaped, as in JSON, and in JSON within. */
const PRIVATE_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----[ \t]*(?:\r?\n|\\+[rn])/;

/** Whether the bytes contain a PEM private key, in plain text or in base64 as in kubeconfigs. */
export function holdsPrivateKey(bytes: Buffer): boolean {
  const text = bytes.toString('latin1');
  if (PRIVATE_KEY.test(text)) return true;
  const encoded = text.match(/LS0tLS1CRUdJTi[A-Za-z0-9+/]{40}/g) ?? [];
  return encoded.some((run) => Buffer.from(run, 'base64').includes('PRIVATE KEY'));
}

/** Paths below something that is not a directory. */
function hierarchyFaults(config: IgnitionConfig): ConfigFault[] {
  const { files = [], directories = [], links = [] } = config.storage ?? {};
  const blocking = new Map([
    ...files.map(({ path }): [string, string] => [path, 'file']),
    ...links.map(({ path }): [string, string] => [path, 'link']),
  ]);
  return [...files, ...directories, ...links].flatMap(({ path }) => {
    for (let at = dirname(path); at !== '/'; at = dirname(at)) {
      const kind = blocking.get(at);
      if (kind !== undefined) return [{ at: path, problem: `is below ${at}, which is a ${kind}` }];
    }
    return [];
  });
}

function duplicates(names: readonly string[]): string[] {
  const seen = new Set<string>();
  const twice = new Set<string>();
  for (const name of names) {
    if (seen.has(name)) twice.add(name);
    seen.add(name);
  }
  return [...twice];
}
