import { join, parse } from 'node:path';
import { Failure } from '../../base/errors/failure.ts';
import { groupOf } from '../../clients/kube/kind-name.ts';
import type { Manifest } from '../../clients/kube/manifest-decoding.ts';
import { loadManifests } from '../../clients/kube/manifests.ts';
import type { HostPaths } from '../../host/paths.ts';
import { isExtensionGroup } from './deferrable.ts';

/** A manifest that waits for its kind to be served, and its key in the status ConfigMap. */
export interface DeferredManifest {
  /** The file's name without its extension: a valid key of a ConfigMap. */
  readonly key: string;
  /** Its file on this host. */
  readonly path: string;
  readonly manifest: Manifest;
}

/** The folder of deferred manifests on both hosts: one object per file, applied in the order of the names. */
export const deferredFolder = ({ config }: Pick<HostPaths, 'config'>) => join(config, 'deferred');

/** The file of a deferred manifest; `position` counts from 1 in the user's order. */
export function deferredFile(
  { kind, namespace, name, object }: Manifest,
  position: number,
): { name: string; contents: string } {
  const words = [kind.toLowerCase(), ...(namespace === undefined ? [] : [namespace]), name];
  const safe = words
    .join('.')
    .replaceAll(/[^A-Za-z0-9.-]/g, '-')
    .slice(0, 120);
  return {
    name: `${String(position).padStart(4, '0')}.${safe}.json`,
    contents: `${JSON.stringify(object, null, 2)}\n`,
  };
}

/**
 * The deferred manifests of this host that are not applied yet; none if the folder does not exist.
 * @throws Failure `fatal` if a file is not a single manifest, or its API group is never deferred.
 */
export async function readDeferred(paths: HostPaths): Promise<DeferredManifest[]> {
  const folder = deferredFolder(paths);
  const { manifests, faults } = await loadManifests([folder]);
  const files = manifests.map(({ file }) => file);
  const wrong = [
    ...files
      .filter((file, at) => files.indexOf(file) < at)
      .map((file) => `${file}: more than one manifest`),
    ...faults.map((fault) =>
      fault.kind === 'duplicate'
        ? `${fault.manifest.file}: the same object as in ${fault.first.file}`
        : `${fault.file}: ${fault.reason}`,
    ),
    ...manifests
      .filter(({ apiVersion }) => !isExtensionGroup(groupOf(apiVersion)))
      .map(({ file, apiVersion }) => `${file}: ${apiVersion} is never deferred`),
  ];
  if (wrong.length > 0) {
    throw new Failure('fatal', `the deferred manifests in ${folder} cannot be used`, {
      expected: 'one manifest in each file, of an API group that Kubernetes does not serve itself',
      found: wrong.join('; '),
    });
  }
  return manifests.map((manifest) => ({
    key: parse(manifest.file).name,
    path: manifest.file,
    manifest,
  }));
}

/** The API groups of the manifests, each once: rights are granted for these. */
export function deferredGroups(deferred: readonly DeferredManifest[]): string[] {
  return [...new Set(deferred.map(({ manifest }) => groupOf(manifest.apiVersion)))].toSorted();
}
