import { decodeManifests, type Manifest } from '../../clients/kube/manifest-decoding.ts';
import { splitDuplicates } from '../../clients/kube/manifests.ts';
import { isManifestPath } from './paths.ts';
import { refused } from './refused.ts';

/** Enough for a person. */
const MOST_SHOWN = 20;

/**
 * The manifests of a volume, by the names of their files.
 *
 * @throws Failure (usage, `site-volume-refused`) with each that is none, or is there twice
 */
export function extraManifests(files: ReadonlyMap<string, Uint8Array>): readonly Manifest[] {
  const paths = [...files.keys()].filter(isManifestPath).toSorted();
  const decoded = paths.map((path) =>
    decodeManifests(path, Buffer.from(files.get(path) ?? []).toString('utf8')),
  );
  const { manifests, faults } = splitDuplicates(decoded.flatMap((each) => each.manifests));
  const found = [
    ...decoded
      .flatMap(({ undecodable }) => undecodable)
      .map(({ file, line, reason }) => `${file}:${line}: ${reason}`),
    ...faults.map((fault) =>
      fault.kind === 'duplicate'
        ? `${fault.manifest.file}:${fault.manifest.line}: the same object as in ${fault.first.file}`
        : `${fault.file}:${fault.line}: ${fault.reason}`,
    ),
  ];
  if (found.length === 0) return manifests;
  throw refused('extra-manifests cannot be applied', {
    expected: 'one object of Kubernetes in each document, each object once',
    found: found.slice(0, MOST_SHOWN).join('; '),
    fix: 'Nothing was changed. Correct them, and create the volume again.',
  });
}
