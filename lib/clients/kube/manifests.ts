import type { Dirent } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { describeError, Failure } from '../../base/errors/failure.ts';
import { isMissing } from '../../host/files.ts';
import { groupOf } from './kind-name.ts';
import {
  DEFAULT_NAMESPACE,
  type DecodedManifests,
  decodeManifests,
  type Manifest,
  reasonOf,
  type UndecodableManifest,
} from './manifest-decoding.ts';

/** A document that cannot be applied, whatever the API says. */
export type ManifestFault =
  | ({ readonly kind: 'undecodable' } & UndecodableManifest)
  /** Two manifests of one object: only the first is applied. */
  | { readonly kind: 'duplicate'; readonly manifest: Manifest; readonly first: Manifest };

export interface LoadedManifests {
  readonly manifests: readonly Manifest[];
  readonly faults: readonly ManifestFault[];
}

const extensions = new Set(['.yaml', '.yml', '.json']);

/**
 * Every manifest in the folders and their subfolders, in the order of the folders, by
 * path within each; a missing folder has none. Symbolic links are faults: they are not
 * followed, and what they point to would be left out without notice.
 * @throws Failure `usage` when a folder cannot be read.
 */
export async function loadManifests(folders: readonly string[]): Promise<LoadedManifests> {
  const all: DecodedManifests[] = [];
  for (const folder of folders) {
    const { files, links } = await filesBelow(folder);
    for (const path of [...files, ...links].sort()) {
      const isLink = links.includes(path);
      all.push(isLink ? wholeFile(path, 'is a symbolic link') : await decodeFile(path));
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

/** Tells objects apart: by group, not version, since one written in two versions is one object; so is one without its namespace. */
export function objectKey({
  apiVersion,
  kind,
  namespace = DEFAULT_NAMESPACE,
  name,
}: Manifest): string {
  return JSON.stringify([groupOf(apiVersion), kind, namespace, name]);
}

export function splitDuplicates(all: readonly Manifest[]): LoadedManifests {
  const seen = new Map<string, Manifest>();
  const faults: ManifestFault[] = [];
  for (const manifest of all) {
    const key = objectKey(manifest);
    const first = seen.get(key);
    if (first === undefined) seen.set(key, manifest);
    else faults.push({ kind: 'duplicate', manifest, first });
  }
  return { manifests: [...seen.values()], faults };
}

async function filesBelow(folder: string): Promise<{ files: string[]; links: string[] }> {
  try {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const pathOf = ({ parentPath, name }: Dirent) => join(parentPath, name);
    const isManifest = (entry: Dirent) => entry.isFile() && extensions.has(extname(entry.name));
    return {
      files: entries.filter(isManifest).map(pathOf),
      links: entries.filter((entry) => entry.isSymbolicLink()).map(pathOf),
    };
  } catch (cause) {
    if (isMissing(cause)) return { files: [], links: [] };
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

/** Decodes a file as the host does. Never throws: what cannot be decoded is in the result. */
export function decodeManifestFile(path: string, bytes: Uint8Array): DecodedManifests {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return wholeFile(path, 'is not UTF-8 text');
  }
  try {
    return decodeManifests(path, text);
  } catch (error) {
    return wholeFile(path, reasonOf(error));
  }
}

function wholeFile(file: string, reason: string): DecodedManifests {
  return { manifests: [], undecodable: [{ file, document: 1, line: 1, reason }] };
}
