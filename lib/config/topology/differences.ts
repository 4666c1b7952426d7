import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../../base/json.ts';
import type { Manifest } from '../../clients/kube/manifest-decoding.ts';
import { type TopologyManifest, topologyManifests } from './openshift.ts';
import type { TopologyRow } from './rows.ts';

/** An object, or one of its fields, that is not as the row determines it. */
export interface Difference {
  readonly expected: TopologyManifest;
  /** Undefined if there is no such object. */
  readonly field?: {
    /** Such as `status.infrastructureTopology`. */
    readonly path: string;
    readonly expected: unknown;
    /** Undefined if the object has no such field. */
    readonly found: unknown;
  };
}

type Given = Pick<Manifest, 'apiVersion' | 'kind' | 'namespace' | 'name' | 'object'>;

/**
 * What the manifests of an installation lack, or have otherwise than the row. Objects and fields
 * that a row does not determine are not looked at.
 */
export function missingTopology(given: readonly Given[], row: TopologyRow): Difference[] {
  return topologyManifests(row).flatMap((expected) => {
    const found = given.find((manifest) => isSame(manifest, expected));
    if (found === undefined) return [{ expected }];
    const { apiVersion: _version, kind: _kind, metadata: _metadata, ...fields } = expected.object;
    return differingFields(fields, found.object, '').map((field) => ({ expected, field }));
  });
}

/** A version of the API says nothing about which object it is. */
function isSame(manifest: Given, { object }: TopologyManifest): boolean {
  const { name, namespace } = object.metadata;
  return (
    groupOf(manifest.apiVersion) === groupOf(object.apiVersion) &&
    manifest.kind === object.kind &&
    manifest.name === name &&
    manifest.namespace === namespace
  );
}

const groupOf = (apiVersion: string): string => /^(.*)\//.exec(apiVersion)?.[1] ?? '';

function differingFields(
  expected: Readonly<Record<string, unknown>>,
  found: Readonly<Record<string, unknown>>,
  above: string,
): Required<Difference>['field'][] {
  return Object.entries(expected).flatMap(([name, value]) => {
    const path = above === '' ? name : `${above}.${name}`;
    const other = found[name];
    if (isRecord(value)) return differingFields(value, isRecord(other) ? other : {}, path);
    return isDeepStrictEqual(value, other) ? [] : [{ path, expected: value, found: other }];
  });
}
