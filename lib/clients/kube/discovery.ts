import { z } from 'zod';
import type { Limits } from '../../base/wait/limits.ts';
import type { KubeClient } from './client.ts';
import type { KindName } from './kind-name.ts';
import { isKubeError } from './kube-error.ts';
import { objectSchema, type Resource } from './resources.ts';

/** How the API serves a kind. */
export interface ServedKind {
  readonly resource: Resource;
  readonly namespaced: boolean;
  readonly hasStatus: boolean;
  readonly isListable: boolean;
}

const resourceListSchema = z.looseObject({
  resources: z.array(
    z.looseObject({
      name: z.string(),
      kind: z.string(),
      namespaced: z.boolean(),
      verbs: z.array(z.string()).default([]),
    }),
  ),
});

type ResourceList = z.infer<typeof resourceListSchema>;

/** Which kinds the API serves; asked once for each group and version, until `forget`. */
export class Discovery {
  readonly #client: KubeClient;
  readonly #known = new Map<string, Promise<ReadonlyMap<string, ServedKind>>>();

  constructor(client: KubeClient) {
    this.#client = client;
  }

  /** How the kind is served, or undefined when it is not. */
  async find({ apiVersion, kind }: KindName, limits: Limits): Promise<ServedKind | undefined> {
    return (await this.kinds(apiVersion, limits)).get(kind);
  }

  /** The kinds of a group and version by their names; none where it is not served. */
  async kinds(apiVersion: string, limits: Limits): Promise<ReadonlyMap<string, ServedKind>> {
    const known = this.#known.get(apiVersion) ?? this.#load(apiVersion, limits);
    this.#known.set(apiVersion, known);
    try {
      return await known;
    } catch (error) {
      this.#known.delete(apiVersion);
      throw error;
    }
  }

  /**
   * Makes the next lookup ask for a group and version again: one of its kinds was
   * missing or deleted.
   */
  forget(apiVersion: string): void {
    this.#known.delete(apiVersion);
  }

  async #load(apiVersion: string, limits: Limits): Promise<ReadonlyMap<string, ServedKind>> {
    try {
      return servedKinds(apiVersion, await this.#request(apiVersion, limits));
    } catch (error) {
      if (isKubeError(error, 'not-found')) return new Map();
      throw error;
    }
  }

  async #request(apiVersion: string, limits: Limits): Promise<ResourceList> {
    const path = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    return this.#client.answer(resourceListSchema, { method: 'GET', path }, limits);
  }
}

function servedKinds(apiVersion: string, { resources }: ResourceList): Map<string, ServedKind> {
  const names = new Set(resources.map(({ name }) => name));
  const kinds = resources
    .filter(({ name }) => !name.includes('/'))
    .map(({ name, kind, namespaced, verbs }): [string, ServedKind] => [
      kind,
      {
        resource: { apiVersion, plural: name, schema: objectSchema },
        namespaced,
        hasStatus: names.has(`${name}/status`),
        isListable: verbs.includes('list'),
      },
    ]);
  return new Map(kinds);
}
