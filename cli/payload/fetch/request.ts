import { suggest } from '../../../lib/base/errors/suggest.ts';
import { type Architecture, architectures } from '../../../lib/host/architecture.ts';
import { addOns } from '../../../lib/payload/add-ons.ts';
import { releasePattern } from '../../../lib/payload/payload.ts';
import type { AcceptOptions } from '../accept.ts';
import { downloadMirrors, type Mirrors, plainMirrors, registryMirrors } from './mirrors.ts';

/** The options of `sno create payload` for parts that are fetched. */
export interface FetchPayloadOptions extends AcceptOptions {
  kubernetes?: string;
  arch?: string;
  etcdVersion?: string;
  without?: readonly string[];
  lock?: string;
  registry?: readonly string[];
  downloads?: readonly string[];
  pullSecret?: string;
  parts?: string;
}

/** A version, or the name of the newest one: `stable`, `stable-1.37`. */
export type AskedVersion =
  | { readonly kind: 'version'; readonly version: string }
  | { readonly kind: 'newest'; readonly name: string; readonly minor: string | undefined };

/** What is to be fetched, and from where. */
export interface FetchRequest {
  /** Undefined: that of the lock. */
  readonly kubernetes: AskedVersion | undefined;
  /** With `v`; undefined: that which upstream releases Kubernetes with. */
  readonly etcd: string | undefined;
  /** Undefined: that of the lock, or amd64. */
  readonly architecture: Architecture | undefined;
  /** Names of add-ons that are left out. */
  readonly without: readonly string[];
  /** Path of a payload.lock.yaml. */
  readonly lock: string | undefined;
  readonly registries: Mirrors;
  readonly sites: Mirrors;
  /** Path of a file of logins, as skopeo, podman and docker write it. */
  readonly pullSecret: string | undefined;
}

/** Whether parts are fetched at all. */
export const isFetched = ({ kubernetes, lock }: FetchPayloadOptions): boolean =>
  kubernetes !== undefined || lock !== undefined;

/** Options that are only for fetched parts, of those that were given. */
export const fetchOnlyOptions = (options: FetchPayloadOptions): string[] =>
  Object.entries({
    '--arch': options.arch,
    '--without': options.without,
    '--registry': options.registry,
    '--downloads': options.downloads,
    '--pull-secret': options.pullSecret,
    '--parts': options.parts,
  }).flatMap(([name, value]) => (value === undefined ? [] : [name]));

/** Reads the command line; every fault is added to `faults`. */
export function readFetchRequest(options: FetchPayloadOptions, faults: string[]): FetchRequest {
  const { lock, pullSecret, etcdVersion, without = [] } = options;
  const sites = downloadMirrors(options.downloads ?? [], faults);
  if (lock === undefined) {
    for (const mirror of plainMirrors(sites)) {
      faults.push(
        `--downloads ${mirror}: over http://, nothing tells a wrong file from a right one. Use https://, or also --lock`,
      );
    }
  }
  const optional = addOns.map(({ name }) => name);
  for (const name of without) {
    if (optional.some((known) => known === name)) continue;
    const near = suggest(name, optional);
    faults.push(
      `--without ${name}: expected ${optional.join(', ')}${near === undefined ? '' : `. Did you mean ${near}?`}`,
    );
  }
  return {
    kubernetes: askedVersion(options.kubernetes, faults),
    etcd: etcdVersion === undefined ? undefined : etcdOf(etcdVersion, faults),
    architecture: architectureOf(options.arch, faults),
    without,
    lock,
    registries: registryMirrors(options.registry ?? [], faults),
    sites,
    pullSecret,
  };
}

function askedVersion(text: string | undefined, faults: string[]): AskedVersion | undefined {
  if (text === undefined) return undefined;
  const [newest, minor] = /^stable(?:-(1\.\d{1,3}))?$/.exec(text) ?? [];
  if (newest !== undefined) return { kind: 'newest', name: newest, minor };
  const version = text.startsWith('v') ? text : `v${text}`;
  if (releasePattern.test(version)) return { kind: 'version', version };
  const [, only] = /^v?(1\.\d{1,3})$/.exec(text) ?? [];
  const fix = only === undefined ? '' : `. For its newest patch version, write stable-${only}`;
  faults.push(
    `--kubernetes ${text}: expected a version such as v1.37.2, stable-1.37 or stable${fix}`,
  );
  return undefined;
}

function etcdOf(text: string, faults: string[]): string | undefined {
  const version = text.startsWith('v') ? text : `v${text}`;
  if (releasePattern.test(version)) return version;
  faults.push(`--etcd-version ${text}: expected a version such as v3.7.0`);
  return undefined;
}

/** Other names of the same processors. */
const ALSO_CALLED: Readonly<Record<string, Architecture>> = {
  x86_64: 'amd64',
  x64: 'amd64',
  aarch64: 'arm64',
};

function architectureOf(text: string | undefined, faults: string[]): Architecture | undefined {
  if (text === undefined) return undefined;
  const found = architectures.find((known) => known === text);
  if (found !== undefined) return found;
  const near = ALSO_CALLED[text] ?? suggest(text, architectures);
  const fix = near === undefined ? '' : `. Did you mean ${near}?`;
  faults.push(`--arch ${text}: expected ${architectures.join(' or ')}${fix}`);
  return undefined;
}
