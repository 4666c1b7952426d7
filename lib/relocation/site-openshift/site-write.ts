import { isDeepStrictEqual } from 'node:util';
import { Failure } from '../../base/errors/failure.ts';
import type { Limits } from '../../base/wait/limits.ts';
import type { KubeClient } from '../../clients/kube/client.ts';
import {
  type KubeObject,
  type ObjectPlace,
  type Resource,
  resourcePath,
} from '../../clients/kube/resources.ts';
import type { Call } from '../../clients/kube/transport.ts';

/** One object, or all of a kind, as the site wants it. */
export interface SiteWrite {
  /** As messages name it. */
  readonly what: string;
  /** The requests that make it so, in order; none if it is so. Nothing is changed. */
  missing(client: KubeClient, limits: Limits): Promise<readonly Call[]>;
}

type NamedPlace = ObjectPlace & { readonly name: string };

/** An object that is created unless it exists; `wanted` is the whole of it, from what there is. */
export const present = <T extends KubeObject>(
  what: string,
  resource: Resource<T>,
  place: NamedPlace,
  wanted: (found: T | undefined) => object,
): SiteWrite => ({
  what,
  async missing(client, limits) {
    const found = await client.find(resource, place, limits);
    if (found !== undefined) return replaced(resource, place, found, wanted(found));
    const path = resourcePath(resource, { namespace: place.namespace });
    return [{ method: 'POST', path, body: wanted(undefined) }];
  },
});

/** An object that the cluster has from its installation: without it, an operator has not started yet. */
export const changed = <T extends KubeObject>(
  what: string,
  resource: Resource<T>,
  place: NamedPlace,
  wanted: (found: T) => object,
): SiteWrite => ({
  what,
  async missing(client, limits) {
    const found = await client.find(resource, place, limits);
    if (found === undefined) throw new Failure('retry', `${what} does not exist`);
    return replaced(resource, place, found, wanted(found));
  },
});

/** No object of a kind but the named ones. */
export const onlyThese = (
  what: string,
  resource: Resource,
  names: readonly string[],
): SiteWrite => ({
  what,
  async missing(client, limits) {
    const { items } = await client.list(resource, {}, limits);
    return items
      .filter(({ metadata }) => !names.includes(metadata.name))
      .map((object) => deletion(resource, object));
  },
});

/** Deletes this object, not one that has taken its name since. */
export function deletion(resource: Resource, { metadata }: KubeObject): Call {
  const { name, namespace, uid, resourceVersion } = metadata;
  return {
    method: 'DELETE',
    path: resourcePath(resource, { namespace, name }),
    body: { preconditions: { uid, resourceVersion } },
  };
}

/** With the version that was read: refused if somebody else has changed the object since. */
function replaced(
  resource: Resource,
  place: NamedPlace,
  found: KubeObject,
  body: object,
): readonly Call[] {
  if (isDeepStrictEqual(body, found)) return [];
  return [{ method: 'PUT', path: resourcePath(resource, place), body }];
}

/**
 * Carries writes out one after another. What is there already is left alone, so that a repetition, also after an
 * interruption, makes no operator roll out anything again.
 *
 * @returns what was changed
 * @throws KubeError, Failure (retry) if an object of the installation does not exist yet
 */
export async function carryOut(
  client: KubeClient,
  writes: readonly SiteWrite[],
  limits: Limits,
): Promise<string[]> {
  const made: string[] = [];
  for (const write of writes) {
    const calls = await write.missing(client, limits);
    for (const call of calls) await client.json(call, limits);
    if (calls.length > 0) made.push(write.what);
  }
  return made;
}
