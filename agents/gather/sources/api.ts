import { describeError, Failure } from '../../../lib/base/errors/failure.ts';
import { KubeClient } from '../../../lib/clients/kube/client.ts';
import { isKubeError } from '../../../lib/clients/kube/kube-error.ts';
import type { Answer, Call } from '../../../lib/clients/kube/transport.ts';
import { type GatherHost, patient } from '../gather-host.ts';
import { type ApiIdentity, identitiesOf } from './api-access.ts';

/** Timeout of the single request that shows whether the API answers. */
const PROBE_MS = 5000;
/** Per response; a list comes in several. */
const REQUEST_MS = 15_000;
const AT_ONCE_MS = 1000;

/**
 * This host's API, which has answered once. After the first request without any response,
 * nothing more is sent: further requests fail immediately with that reason.
 */
export class Api {
  /** Its connections close by themselves when the process has nothing else to do. */
  readonly client: KubeClient;
  readonly identity: ApiIdentity;
  readonly server: URL;
  readonly #host: Pick<GatherHost, 'settings'>;
  #dead: Failure | undefined;

  constructor(
    host: Pick<GatherHost, 'settings'>,
    { client, identity, server }: Pick<Api, 'client' | 'identity' | 'server'>,
  ) {
    this.#host = host;
    this.client = client;
    this.identity = identity;
    this.server = server;
  }

  /** A successful response as a stream. */
  async *bytes(
    call: Omit<Call, 'method'>,
    signal: AbortSignal,
    deadlineMs = REQUEST_MS,
  ): AsyncGenerator<Uint8Array> {
    for (let isFirst = true; ; isFirst = false) {
      if (this.#dead !== undefined) throw this.#dead;
      const begun = performance.now();
      let isAnswered = false;
      try {
        const limits = { signal, deadlineMs: patient(this.#host, deadlineMs) };
        for await (const chunk of this.client.bytes({ ...call, method: 'GET' }, limits)) {
          isAnswered = true;
          yield chunk;
        }
        return;
      } catch (error) {
        if (isAnswered || !isKubeError(error, 'unreachable')) throw error;
        // A kept-alive connection that the server has just closed says nothing about the server.
        if (isFirst && performance.now() - begun < AT_ONCE_MS) continue;
        this.#dead = new Failure('retry', 'not queried: the API server had stopped answering', {
          found: describeError(error),
        });
        throw error;
      }
    }
  }

  /** A response with any status, such as that of a server that is not ready. */
  async answer(path: string, signal: AbortSignal): Promise<Answer> {
    if (this.#dead !== undefined) throw this.#dead;
    return this.client.raw(path, { signal, deadlineMs: patient(this.#host, REQUEST_MS) });
  }
}

const known = new WeakMap<GatherHost, Promise<Api>>();

/**
 * This host's API, looked up once for all source groups.
 * @throws Failure with the reason for each identity that was tried.
 */
export function apiOf(host: GatherHost, signal: AbortSignal): Promise<Api> {
  const found = known.get(host) ?? findApi(host, signal);
  known.set(host, found);
  return found;
}

async function findApi(host: GatherHost, signal: AbortSignal): Promise<Api> {
  const reasons: string[] = [];
  const silent = new Set<string>();
  for (const identity of await identitiesOf(host)) {
    const found = await tryIdentity(host, identity, silent, signal);
    if (found instanceof Api) return found;
    if (found !== undefined) reasons.push(`as ${identity.name}: ${found}`);
  }
  throw new Failure('retry', 'the API cannot be queried', {
    found: reasons.join('; ') || 'neither a kubeconfig nor the CA of API clients on this host',
  });
}

/**
 * The API, or why this identity cannot use it; undefined if its server was found unresponsive.
 * A server that rejects one identity may accept another.
 */
async function tryIdentity(
  gatherHost: GatherHost,
  identity: ApiIdentity,
  silent: Set<string>,
  signal: AbortSignal,
): Promise<Api | string | undefined> {
  let host = '';
  try {
    const { server, ...access } = await identity.access();
    host = server.host;
    if (silent.has(host)) return undefined;
    const client = new KubeClient({ server, ...access });
    try {
      const deadlineMs = patient(gatherHost, PROBE_MS);
      await client.json({ method: 'GET', path: '/version' }, { signal, deadlineMs });
    } catch (error) {
      client[Symbol.dispose]();
      throw error;
    }
    return new Api(gatherHost, { client, identity, server });
  } catch (error) {
    signal.throwIfAborted();
    if (isKubeError(error, 'unreachable')) silent.add(host);
    return describeError(error);
  }
}
