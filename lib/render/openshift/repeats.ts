import { decodeManifestFile, objectKey } from '../../clients/kube/manifests.ts';
import type { RenderedManifest } from '../renderer.ts';

/**
 * Without files whose objects are all in earlier ones, by name: two operators of a release may
 * render the same definition, and the first is the one that the shell flow created. A file that
 * cannot be decoded is kept: applying it is what reports it.
 */
export function withoutRepeats(manifests: readonly RenderedManifest[]): RenderedManifest[] {
  const seen = new Set<string>();
  return manifests.filter(({ name, contents }) => {
    const decoded = decodeManifestFile(name, Buffer.from(contents));
    const keys = decoded.manifests.map(objectKey);
    const isRepeat =
      keys.length > 0 && decoded.undecodable.length === 0 && keys.every((key) => seen.has(key));
    for (const key of keys) seen.add(key);
    return !isRepeat;
  });
}
