import type { IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import { text } from 'node:stream/consumers';
import type { Limits } from '../wait/limits.ts';
import { KubeError, unreachable } from './kube-error.ts';
import type { Access } from './kubeconfig.ts';

export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path with the query. */
  readonly path: string;
  readonly body?: unknown;
  readonly contentType?: string;
  /** What the answer may be; JSON by default. */
  readonly accept?: string;
}

export interface Answer {
  readonly code: number;
  readonly body: string;
  readonly retryAfter: string | undefined;
}

const userAgent = 'sno-agents';

/** HTTPS to one API server over kept connections. Throws KubeError `unreachable`, or the signal's reason. */
export class Transport {
  readonly #access: Access;
  readonly #agent: Agent;

  constructor(access: Access) {
    this.#access = access;
    this.#agent = new Agent({
      keepAlive: true,
      maxSockets: 32,
      ca: access.ca,
      ...(access.certificate === undefined ? {} : { cert: access.certificate }),
      ...(access.key === undefined ? {} : { key: access.key }),
    });
  }

  close(): void {
    this.#agent.destroy();
  }

  /** One request with its whole answer, whatever its status. */
  async exchange(call: Call, limits: Limits): Promise<Answer> {
    return this.#within(call, limits, async (signal) => {
      const response = await this.#send(call, signal);
      return {
        code: response.statusCode ?? 0,
        body: await text(response),
        retryAfter: response.headers['retry-after'],
      };
    });
  }

  /** The lines of a streaming answer; `failed` makes the error for a status other than 200. */
  lines(call: Call, limits: Limits, failed: (answer: Answer) => KubeError): AsyncGenerator<string> {
    return splitLines(this.bytes(call, limits, failed));
  }

  /** An answer as it comes; `failed` makes the error for a status other than 200. */
  async *bytes(
    call: Call,
    limits: Limits,
    failed: (answer: Answer) => KubeError,
  ): AsyncGenerator<Uint8Array> {
    const signal = either(limits);
    let response: IncomingMessage | undefined;
    try {
      response = await this.#send(call, signal);
      if (response.statusCode !== 200) {
        const { statusCode: code = 0, headers } = response;
        throw failed({ code, body: await text(response), retryAfter: headers['retry-after'] });
      }
      for await (const chunk of response) yield chunk;
    } catch (error) {
      limits.signal.throwIfAborted();
      throw error instanceof KubeError ? error : unreachable(`${call.method} ${call.path}`, error);
    } finally {
      response?.destroy();
    }
  }

  async #within<T>(call: Call, limits: Limits, body: (signal: AbortSignal) => Promise<T>) {
    try {
      return await body(either(limits));
    } catch (error) {
      limits.signal.throwIfAborted();
      throw unreachable(`${call.method} ${call.path}`, error);
    }
  }

  #send(
    { method, path, body, contentType, accept }: Call,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    const { server, token } = this.#access;
    const payload = body === undefined ? undefined : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const request = httpsRequest(
        new URL(server.pathname.replace(/\/$/, '') + path, server),
        {
          method,
          agent: this.#agent,
          signal,
          headers: {
            accept: accept ?? 'application/json',
            'user-agent': userAgent,
            ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
            ...(payload === undefined
              ? {}
              : {
                  'content-type': contentType ?? 'application/json',
                  'content-length': Buffer.byteLength(payload),
                }),
          },
        },
        resolve,
      );
      request.on('error', reject);
      request.end(payload);
    });
  }
}

function either({ signal, deadlineMs }: Limits): AbortSignal {
  signal.throwIfAborted();
  return AbortSignal.any([signal, AbortSignal.timeout(Math.max(1, Math.ceil(deadlineMs)))]);
}

/** Complete lines only: what a cut connection left half is not one. */
async function* splitLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let rest = '';
  const decoder = new TextDecoder();
  for await (const chunk of chunks) {
    const parts = `${rest}${decoder.decode(chunk, { stream: true })}`.split('\n');
    rest = parts.pop() ?? '';
    yield* parts.filter((line) => line !== '');
  }
}
