import { z } from 'zod';
import { builtInGroups } from '../kube/built-in-groups.ts';
import { groupOf, type KindName } from '../kube/kind-name.ts';
import type { Manifest } from '../kube/manifest-decoding.ts';

const definitionSchema = z.looseObject({
  spec: z.looseObject({ group: z.string(), names: z.looseObject({ kind: z.string() }) }),
});

/** What a CustomResourceDefinition or an aggregated API can be of: a domain with at least one dot. */
const extensionGroup = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$/;

/**
 * Whether that group can have kinds that nothing serves yet. Rights are given by this
 * name, so that nothing passes that means more than one group, such as `*`.
 */
export function isExtensionGroup(group: string): boolean {
  return extensionGroup.test(group) && !builtInGroups.has(group);
}

/**
 * The manifests of kinds that nothing serves while the bootstrap runs: not built into
 * Kubernetes and defined by none of the manifests. What runs in a pod can define or
 * serve them once the node is up, when the bootstrap is over.
 */
export function deferrable(manifests: readonly Manifest[]): Set<Manifest> {
  const defined = new Set(manifests.flatMap(definedKind));
  return new Set(
    manifests.filter(
      (manifest) =>
        isExtensionGroup(groupOf(manifest.apiVersion)) && !defined.has(kindKey(manifest)),
    ),
  );
}

/** The kind that a manifest defines, if it is a definition; its versions are the server's to judge. */
function definedKind({ apiVersion, kind, object }: Manifest): string[] {
  if (groupOf(apiVersion) !== 'apiextensions.k8s.io' || kind !== 'CustomResourceDefinition') {
    return [];
  }
  const definition = definitionSchema.safeParse(object);
  if (!definition.success) return [];
  const { group, names } = definition.data.spec;
  return [kindKey({ apiVersion: `${group}/`, kind: names.kind })];
}

const kindKey = ({ apiVersion, kind }: KindName) => JSON.stringify([groupOf(apiVersion), kind]);
