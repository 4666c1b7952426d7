import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { suggest } from '../../lib/base/errors/suggest.ts';
import { isReference } from '../../lib/payload/image/reference.ts';
import { namePattern, releasePattern } from '../../lib/payload/payload.ts';
import { requiredBinaries, requiredImages } from '../../lib/payload/required.ts';
import type { AcceptOptions } from './accept.ts';
import { faultText } from './noting.ts';

/** The options of `sno create payload` as given on the command line. */
export interface CreatePayloadOptions extends AcceptOptions {
  dir: string;
  /** `NAME=FILE` each. */
  image?: readonly string[];
  /** `NAME=REFERENCE` each. */
  reference?: readonly string[];
  /** `NAME=FILE` each. */
  binary?: readonly string[];
  /** Folders with network plugins. */
  cni?: readonly string[];
  kubernetesVersion?: string;
  etcdVersion?: string;
  /** Compress its files. */
  compress?: boolean;
}

export interface RequestedBinary {
  name: string;
  kind: 'host' | 'cni';
  path: string;
}

/** What the payload is to be made from. */
export interface PayloadRequest {
  images: { name: string; path: string; reference?: string | undefined }[];
  binaries: RequestedBinary[];
  /** As given by the user, with a leading v. */
  versions: { kubernetes?: string | undefined; etcd?: string | undefined };
}

/** Options for parts that are given, of those that were given. */
export const givenOptions = (options: CreatePayloadOptions): string[] =>
  Object.entries({
    '--image': options.image,
    '--reference': options.reference,
    '--binary': options.binary,
    '--cni': options.cni,
    '--kubernetes-version': options.kubernetesVersion,
  }).flatMap(([name, value]) => (value === undefined ? [] : [name]));

/** Reads the command line; every fault is added to `faults`. */
export async function readPayloadRequest(
  options: CreatePayloadOptions,
  faults: string[],
): Promise<PayloadRequest> {
  const files = readNamed('--image', 'FILE', options.image ?? [], faults);
  const references = readNamed('--reference', 'REFERENCE', options.reference ?? [], faults);
  const binaries = readNamed('--binary', 'FILE', options.binary ?? [], faults);
  requireNames('--image', files, requiredImages, faults);
  requireNames('--binary', binaries, requiredBinaries, faults);
  for (const [name, reference] of references) {
    if (!files.has(name)) faults.push(`--reference ${name}: there is no --image ${name}`);
    if (!isReference(reference)) {
      faults.push(
        `--reference ${name}: expected registry, repository and tag, such as registry.k8s.io/pause:3.10, found ${reference}`,
      );
    }
  }
  const plugins = (
    await Promise.all((options.cni ?? []).map((folder) => readPlugins(folder, faults)))
  ).flat();
  return {
    images: [...files].map(([name, path]) => ({ name, path, reference: references.get(name) })),
    binaries: [
      ...[...binaries].map(([name, path]) => ({ name, kind: 'host' as const, path })),
      ...plugins,
    ],
    versions: {
      kubernetes: readVersion('--kubernetes-version', options.kubernetesVersion, faults),
      etcd: readVersion('--etcd-version', options.etcdVersion, faults),
    },
  };
}

function readNamed(
  option: string,
  what: string,
  values: readonly string[],
  faults: string[],
): Map<string, string> {
  const named = new Map<string, string>();
  for (const written of values) {
    const [, name = '', value = ''] = /^([^=]*)=(.*)$/s.exec(written) ?? [];
    if (!namePattern.test(name) || value === '') {
      faults.push(
        `${option} ${written}: expected NAME=${what}, the name of lower-case letters, digits, - . and _`,
      );
    } else if (named.has(name)) faults.push(`${option} ${name}: given twice`);
    else named.set(name, value);
  }
  return named;
}

function requireNames(
  option: string,
  given: ReadonlyMap<string, string>,
  required: readonly string[],
  faults: string[],
): void {
  const further = [...given.keys()].filter((name) => !required.includes(name));
  for (const name of required) {
    if (given.has(name)) continue;
    const near = suggest(name, further);
    faults.push(
      `${option} ${name}=FILE is missing${near === undefined ? '' : `; is ${near} meant?`}`,
    );
  }
}

/** Every file of a folder counts; which of them are programs is determined later. */
async function readPlugins(folder: string, faults: string[]): Promise<RequestedBinary[]> {
  try {
    const names = (await readdir(folder)).toSorted();
    return names.map((name) => ({ name, kind: 'cni', path: join(folder, name) }));
  } catch (error) {
    faults.push(`--cni ${folder}: ${faultText(error)}`);
    return [];
  }
}

function readVersion(
  option: string,
  written: string | undefined,
  faults: string[],
): string | undefined {
  if (written === undefined) return undefined;
  const version = written.startsWith('v') ? written : `v${written}`;
  if (releasePattern.test(version)) return version;
  faults.push(`${option}: expected a version such as v1.37.2, found ${written}`);
  return undefined;
}
