import { z } from 'zod';
import { builtInGroups } from '../../clients/kube/built-in-groups.ts';
import { groupOf } from '../../clients/kube/kind-name.ts';
import type { Manifest } from '../../clients/kube/manifest-decoding.ts';

/** A definition of any version; the server validates the versions of its kind. */
const definitionSchema = z.looseObject({
  apiVersion: z.string().startsWith('apiextensions.k8s.io/'),
  kind: z.literal('CustomResourceDefinition'),
  spec: z.looseObject({ group: z.string(), names: z.looseObject({ kind: z.string() }) }),
});

/** The group of a CustomResourceDefinition or of an aggregated API: a domain with at least one dot. */
const extensionGroup = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$/;

/**
 * Whether the group can have kinds that are not served yet. Rights are granted by this
 * name, so a name that means more than one group, such as `*`, is not accepted.
 */
export function isExtensionGroup(group: string): boolean {
  return extensionGroup.test(group) && !builtInGroups.has(group);
}

/**
 * The manifests of kinds that are not served during the bootstrap: not built into
 * Kubernetes and not defined by any of the manifests. Pods can define or serve them
 * once the node is up, after the bootstrap.
 */
export function deferrable(manifests: readonly Manifest[]): Set<Manifest> {
  const defined = new Set(manifests.map(definedKind));
  const isDeferred = ({ apiVersion, kind }: Manifest) => {
    const group = groupOf(apiVersion);
    return isExtensionGroup(group) && !defined.has(kindKey(group, kind));
  };
  return new Set(manifests.filter(isDeferred));
}

/** The kind that a manifest defines, if it is a definition. */
function definedKind({ object }: Manifest): string | undefined {
  const definition = definitionSchema.safeParse(object);
  if (!definition.success) return undefined;
  const { group, names } = definition.data.spec;
  return kindKey(group, names.kind);
}

const kindKey = (group: string, kind: string) => JSON.stringify([group, kind]);
