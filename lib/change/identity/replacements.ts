import { Failure } from '../../base/errors/failure.ts';
import { decodeManifests, type Manifest } from '../../clients/kube/manifest-decoding.ts';
import type { RenderedManifest } from '../../render/renderer.ts';
import type { IdentityChange } from './changes.ts';

/** The kinds of rendered objects that depend on an identity, by their names in paths. */
const PLURALS: Readonly<Record<string, string>> = {
  ClusterRole: 'clusterroles',
  ConfigMap: 'configmaps',
  DaemonSet: 'daemonsets',
};

/** Puts the objects of an installation in place that are rendered differently for another identity. */
export function replacements(
  old: readonly RenderedManifest[],
  next: readonly RenderedManifest[],
): Extract<IdentityChange, { do: 'replace' }>[] {
  const before = objectsOf(old).map(textOf);
  return objectsOf(next)
    .filter((manifest) => !before.includes(textOf(manifest)))
    .map(({ apiVersion, kind, namespace, name, object }) => {
      const plural = PLURALS[kind];
      if (plural === undefined) throw new Failure('bug', `${kind} ${name} depends on the identity`);
      return { do: 'replace', resource: { apiVersion, plural }, namespace, name, body: object };
    });
}

const objectsOf = (all: readonly RenderedManifest[]): Manifest[] =>
  all.flatMap(({ name, contents }) => decodeManifests(name, contents).manifests);

const textOf = ({ object }: Manifest): string => JSON.stringify(object);
