import { z } from 'zod';
import { builtInKind } from '../../lib/clients/kube/built-in-kinds.ts';
import { groupOf, type KindName } from '../../lib/clients/kube/kind-name.ts';
import type { Manifest } from '../../lib/clients/kube/manifest-decoding.ts';

/** A manifest, and what is wrong with it beside the others. */
export type FolderFault = readonly [Manifest, fault: string];

/** What is right in itself, but not in a new cluster with all these manifests: each would be tried until the deadline. */
export function folderFaults(manifests: readonly Manifest[]): FolderFault[] {
  const definitions = definitionsIn(manifests);
  return [...unservedVersions(manifests, definitions), ...withoutNamespace(manifests, definitions)];
}

/** That every API server has, and that of an add-on. */
const NAMESPACES = [
  'default',
  'kube-system',
  'kube-public',
  'kube-node-lease',
  'local-path-storage',
];

/** Manifests of known kinds in a namespace that nobody makes. */
function withoutNamespace(manifests: readonly Manifest[], definitions: Definitions): FolderFault[] {
  const made = manifests.filter(
    ({ apiVersion, kind }) => apiVersion === 'v1' && kind === 'Namespace',
  );
  const known = new Set([...NAMESPACES, ...made.map(({ name }) => name)]);
  return manifests.flatMap((each) => {
    const { namespace } = each;
    if (namespace === undefined || known.has(namespace)) return [];
    if (!isNamespaced(each, definitions)) return [];
    const fault = `metadata.namespace: expected one that every cluster has, or of a Namespace among the manifests, found ${JSON.stringify(namespace)}. Add {apiVersion: v1, kind: Namespace, metadata: {name: ${namespace}}}.`;
    return [[each, fault] as const];
  });
}

function isNamespaced(given: KindName, definitions: Definitions): boolean {
  const builtIn = builtInKind(given.apiVersion, given.kind);
  if (builtIn !== undefined) return builtIn.isNamespaced;
  const defined = definitions.get(keyOf(groupOf(given.apiVersion), given.kind)) ?? [];
  return defined.length > 0 && defined.every(({ scope }) => scope === 'Namespaced');
}

/** In a version that the definition among the manifests does not serve, or one that only former releases of Kubernetes serve. */
function unservedVersions(manifests: readonly Manifest[], definitions: Definitions): FolderFault[] {
  return manifests.flatMap((each) => {
    const { apiVersion, kind } = each;
    const group = groupOf(apiVersion);
    const served = FORMER_VERSIONS.test(apiVersion)
      ? ['v1']
      : definitions
          .get(keyOf(group, kind))
          ?.flatMap(({ versions }) => versions.filter(({ served }) => served))
          .map(({ name }) => name);
    if (served === undefined || served.some((name) => apiVersion === `${group}/${name}`)) return [];
    const fault = `apiVersion: expected ${served.map((name) => `${group}/${name}`).join(' or ') || 'a version that its CustomResourceDefinition serves'}, found ${apiVersion}. Write what is served, and see whether the fields are those of that version.`;
    return [[each, fault] as const];
  });
}

/** Until 1.31, and so by earlier releases of OpenShift, to whose nodes a site may bring such. */
const FORMER_VERSIONS = /^flowcontrol\.apiserver\.k8s\.io\/v1(?:alpha|beta)\d$/;

const definitionSchema = z.looseObject({
  apiVersion: z.string().startsWith('apiextensions.k8s.io/'),
  kind: z.literal('CustomResourceDefinition'),
  spec: z.looseObject({
    ...{ group: z.string(), names: z.looseObject({ kind: z.string() }), scope: z.string() },
    versions: z.array(z.looseObject({ name: z.string(), served: z.boolean() })),
  }),
});
type Definition = z.infer<typeof definitionSchema>['spec'];
type Definitions = ReadonlyMap<string, readonly Definition[]>;

const keyOf = (group: string, kind: string) => JSON.stringify([group, kind]);

/** By group and kind. What is no definition to the API is none here. */
function definitionsIn(manifests: readonly Manifest[]): Definitions {
  const all = manifests.flatMap(({ object }) => {
    const parsed = definitionSchema.safeParse(object);
    return parsed.success ? [parsed.data.spec] : [];
  });
  return Map.groupBy(all, ({ group, names }) => keyOf(group, names.kind));
}
