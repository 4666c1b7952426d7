import { Failure } from '../../../lib/base/errors/failure.ts';
import type { Limits } from '../../../lib/base/wait/limits.ts';
import type { KubeClient } from '../../../lib/clients/kube/client.ts';
import { isKubeError, type KubeError } from '../../../lib/clients/kube/kube-error.ts';
import {
  type KubeObject,
  type Resource,
  resourcePath,
} from '../../../lib/clients/kube/resources.ts';
import { isExisting } from '../../../lib/clients/kube/retry-policy.ts';
import { whileTransient } from '../../../lib/clients/kube/while-transient.ts';

const REQUEST_MS = 30_000;
/** For an API server that restarts. What takes longer, the next run takes up. */
const AWAY_MS = 60_000;

const PATCHES = {
  apply: { contentType: 'application/apply-patch+yaml', query: '&force=true' },
  merge: { contentType: 'application/merge-patch+json', query: '' },
} as const;

interface Patch {
  readonly kind: keyof typeof PATCHES;
  /** Who owns the fields. */
  readonly manager: string;
  readonly subresource?: string;
}

/** Requests for the objects of one namespace of a hub. Each is repeated while the API server does not answer. */
export class Hub {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly signal: AbortSignal;

  constructor(client: KubeClient, namespace: string, signal: AbortSignal) {
    this.client = client;
    this.namespace = namespace;
    this.signal = signal;
  }

  /** The same, ended by another signal. */
  until(signal: AbortSignal): Hub {
    return new Hub(this.client, this.namespace, signal);
  }

  find<T extends KubeObject>(resource: Resource<T>, name: string): Promise<T | undefined> {
    const { namespace } = this;
    return this.ask((limits) => this.client.find(resource, { namespace, name }, limits));
  }

  /** False if an object of that name exists. */
  create(resource: Resource, body: object): Promise<boolean> {
    const { namespace } = this;
    return this.ask(async (limits) => {
      try {
        await this.client.create(resource, { namespace }, body, limits);
        return true;
      } catch (error) {
        if (isExisting(error)) return false;
        throw error;
      }
    });
  }

  /** @throws Failure (retry) if somebody else has changed the object */
  async replace(resource: Resource, name: string, body: object): Promise<void> {
    const { namespace } = this;
    try {
      await this.ask((limits) => this.client.replace(resource, { namespace, name }, body, limits));
    } catch (error) {
      if (!isKubeError(error, 'conflict')) throw error;
      throw new Failure('retry', `${resource.plural} ${name} was changed by somebody else`, {
        fix: 'Run this command again, once at a time for each Site.',
        cause: error,
        tellsCause: true,
      });
    }
  }

  async patch(
    resource: Resource,
    name: string,
    body: object,
    { kind, manager, subresource }: Patch,
  ): Promise<void> {
    const { namespace } = this;
    const { contentType, query } = PATCHES[kind];
    const path = resourcePath(resource, { namespace, name, subresource });
    const call = {
      method: 'PATCH',
      path: `${path}?fieldManager=${manager}${query}`,
      body,
      contentType,
    } as const;
    await this.ask((limits) => this.client.json(call, limits));
  }

  async remove(resource: Resource, name: string): Promise<void> {
    const { namespace } = this;
    await this.ask((limits) => this.client.remove(resource, { namespace, name }, limits));
  }

  /** Any request of the client. */
  async ask<T>(request: (limits: Limits) => Promise<T>): Promise<T> {
    const { signal } = this;
    const answer = await whileTransient(
      async () => {
        try {
          return { result: await request({ signal, deadlineMs: REQUEST_MS }) };
        } catch (error) {
          // What the server has decided is for the caller to judge.
          if (!isKubeError(error) || isAway(error)) throw error;
          return { refusal: error };
        }
      },
      { signal, longestMs: AWAY_MS },
    );
    if ('refusal' in answer) throw answer.refusal;
    return answer.result;
  }
}

const isAway = ({ kind }: KubeError): boolean => kind === 'unreachable' || kind === 'busy';
