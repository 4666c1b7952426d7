import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { describeError, Failure } from '../errors/failure.ts';
import { isMissing } from '../host/files.ts';
import { groupOf } from './kind-name.ts';
import {
  type DecodedManifests,
  decodeManifests,
  type Manifest,
  reasonOf,
  type UndecodableManifest,
} from './manifest-decoding.ts';

/** A document that cannot be applied, whatever the API says. */
export type ManifestFault =
  | ({ readonly kind: 'undecodable' } & UndecodableManifest)
  /** Two manifests of the same object: only the first one is applied. */
  | { readonly kind: 'duplicate'; readonly manifest: Manifest; readonly first: Manifest };

export interface LoadedManifests {
  readonly manifests: readonly Manifest[];
  readonly faults: readonly ManifestFault[];
}

const extensions = new Set(['.yaml', '.yml', '.json']);

/**
 * Every manifest in the folders and below, in the order of the folders given and
 * lexically by path inside each; a missing folder has none. Links are
 * not followed but are faults, since what they lead to would be missing in silence.
 * @throws Failure `usage` when a folder cannot be read.
 */
export async function loadManifests(folders: readonly string[]): Promise<LoadedManifests> {
  const all: DecodedManifests[] = [];
  for (const folder of folders) {
    for (const { path, isLink } of await filesBelow(folder)) {
      all.push(isLink ? linkFound(path) : await decodeFile(path));
    }
  }
  const undecodable = all.flatMap((decoded) => decoded.undecodable);
  const { manifests, faults } = splitDuplicates(all.flatMap((decoded) => decoded.manifests));
  return {
    manifests,
    faults: [
      ...undecodable.map((fault) => ({ kind: 'undecodable' as const, ...fault })),
      ...faults,
    ],
  };
}

/** By group, not version: the same object written in two versions is still one object. */
export function splitDuplicates(all: readonly Manifest[]): LoadedManifests {
  const seen = new Map<string, Manifest>();
  const faults: ManifestFault[] = [];
  for (const manifest of all) {
    const { apiVersion, kind, namespace = '', name } = manifest;
    const key = JSON.stringify([groupOf(apiVersion), kind, namespace, name]);
    const first = seen.get(key);
    if (first === undefined) seen.set(key, manifest);
    else faults.push({ kind: 'duplicate', manifest, first });
  }
  return { manifests: [...seen.values()], faults };
}

async function filesBelow(folder: string): Promise<{ path: string; isLink: boolean }[]> {
  const found: { path: string; isLink: boolean }[] = [];
  for (const entry of await readFolder(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) found.push(...(await filesBelow(path)));
    else if (entry.isSymbolicLink()) found.push({ path, isLink: true });
    else if (entry.isFile() && extensions.has(extname(entry.name))) {
      found.push({ path, isLink: false });
    }
  }
  return found.sort((a, b) => (a.path < b.path ? -1 : 1));
}

async function readFolder(folder: string) {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (cause) {
    if (isMissing(cause)) return [];
    throw new Failure('usage', `the manifests in ${folder} cannot be read`, { cause });
  }
}

async function decodeFile(path: string): Promise<DecodedManifests> {
  try {
    return decodeManifestFile(path, await readFile(path));
  } catch (error) {
    return wholeFile(path, describeError(error));
  }
}

/** Every manifest of a file, as the host reads it. Throws nothing: what cannot be decoded is stated. */
export function decodeManifestFile(path: string, bytes: Uint8Array): DecodedManifests {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return wholeFile(path, 'is not text in UTF-8');
  }
  try {
    return decodeManifests(path, text);
  } catch (error) {
    return wholeFile(path, reasonOf(error));
  }
}

const linkFound = (path: string) => wholeFile(path, 'is a link; links are not followed');

function wholeFile(file: string, reason: string): DecodedManifests {
  return { manifests: [], undecodable: [{ file, document: 1, line: 1, reason }] };
}
