import { basename, join } from 'node:path';
import { Failure } from '../errors/failure.ts';
import type { HostPaths } from '../host/paths.ts';
import { groupOf } from '../kube/kind-name.ts';
import type { Manifest } from '../kube/manifest-decoding.ts';
import { loadManifests } from '../kube/manifests.ts';
import { isExtensionGroup } from './deferrable.ts';

/** A manifest that waits for its kind, and the name by which its status is told. */
export interface DeferredManifest {
  /** Its file's name without the ending: a valid key of a ConfigMap. */
  readonly key: string;
  /** Where it lies on this host. */
  readonly path: string;
  readonly manifest: Manifest;
}

/** Where deferred manifests lie on both hosts: one object for each file, applied in their names' order. */
export const deferredFolder = ({ config }: Pick<HostPaths, 'config'>) => join(config, 'deferred');

/** The file of a deferred manifest; `position` counts from 1 in the order that the user gave. */
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
 * @throws Failure `fatal` for one that is not a manifest, or whose API group is never deferred.
 */
export async function readDeferred(paths: HostPaths): Promise<DeferredManifest[]> {
  const folder = deferredFolder(paths);
  const { manifests, faults } = await loadManifests([folder]);
  const files = manifests.map(({ file }) => file);
  const wrong = [
    ...files.filter((file, at) => files.indexOf(file) < at).map((file) => `${file}: several`),
    ...faults.map((fault) =>
      fault.kind === 'duplicate'
        ? `${fault.manifest.file}: a duplicate`
        : `${fault.file}: ${fault.reason}`,
    ),
    ...manifests
      .filter(({ apiVersion }) => !isExtensionGroup(groupOf(apiVersion)))
      .map(({ file, apiVersion }) => `${file}: ${apiVersion} is served from the beginning`),
  ];
  if (wrong.length > 0) {
    throw new Failure('fatal', `the deferred manifests in ${folder} cannot be used`, {
      expected: 'one manifest in each file, of a kind that is not built into Kubernetes',
      found: wrong.join('; '),
    });
  }
  return manifests.map((manifest) => ({
    key: basename(manifest.file).replace(/\.[^.]+$/, ''),
    path: manifest.file,
    manifest,
  }));
}

/** The API groups that the rights to apply them are for, each once. */
export function deferredGroups(deferred: readonly DeferredManifest[]): string[] {
  return [...new Set(deferred.map(({ manifest }) => groupOf(manifest.apiVersion)))].toSorted();
}
