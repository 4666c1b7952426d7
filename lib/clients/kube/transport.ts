import type { Agent, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import type { Limits } from '../../base/wait/limits.ts';
import { KubeError, tooLong, unreachable } from './kube-error.ts';
import type { Access, Credentials } from './kubeconfig.ts';
import { warningTexts } from './warnings.ts';

export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path with the query. */
  readonly path: string;
  readonly body?: unknown;
  readonly contentType?: string;
  /** The media type of the response; JSON by default. */
  readonly accept?: string;
}

export interface Answer {
  readonly code: number;
  readonly body: string;
  readonly retryAfter: string | undefined;
  /** Its `Warning` headers. */
  readonly warnings: readonly string[];
}

const JSON_TYPE = 'application/json';
const NEWLINE = 0x0a;
/** Of a whole response, and of one line of a stream. The largest object of an API server has 2 MiB. */
const MOST_BYTES = 32 << 20;

/** HTTPS to one API server over persistent connections. Throws KubeError `unreachable`, or the signal's reason. */
export class Transport {
  readonly #access: Access;
  #credentials: Credentials;
  #agent: Agent;
  /** Those of earlier certificates: a watch may still be open. */
  readonly #retired: Agent[] = [];

  constructor(access: Access) {
    this.#access = access;
    this.#credentials = access;
    this.#agent = agentFor(access);
  }

  [Symbol.dispose](): void {
    for (const agent of [this.#agent, ...this.#retired]) agent.destroy();
  }

  /**
   * One request with its whole response, whatever its status.
   * @throws KubeError also `too-long`, for a response of more than `mostBytes`.
   */
  async exchange(call: Call, limits: Limits, mostBytes = MOST_BYTES): Promise<Answer> {
    const signal = either(limits);
    try {
      return await wholeAnswer(await this.#send(call, signal), describe(call), mostBytes);
    } catch (error) {
      limits.signal.throwIfAborted();
      throw error instanceof KubeError ? error : unreachable(describe(call), error);
    }
  }

  /** The lines of a streaming response; `failed` makes the error for a status other than 200. */
  lines(call: Call, limits: Limits, failed: (answer: Answer) => KubeError): AsyncGenerator<string> {
    return splitLines(this.bytes(call, limits, failed), describe(call));
  }

  /** A response as it arrives; `failed` makes the error for a status other than 200. */
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
        throw failed(await wholeAnswer(response, describe(call), MOST_BYTES));
      }
      for await (const chunk of response) yield chunk;
    } catch (error) {
      limits.signal.throwIfAborted();
      throw error instanceof KubeError ? error : unreachable(describe(call), error);
    } finally {
      response?.destroy();
    }
  }

  /** Connections belong to the certificate that they were made with. */
  async #renew(): Promise<void> {
    if (this.#access.renewed === undefined) return;
    const before = this.#credentials;
    this.#credentials = await this.#access.renewed();
    if (this.#credentials.certificate === before.certificate) return;
    this.#retired.push(this.#agent);
    this.#agent = agentFor({ ...this.#access, ...this.#credentials });
  }

  async #send(
    { method, path, body, contentType, accept }: Call,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    await this.#renew();
    const { server, actingFor } = this.#access;
    const { token } = this.#credentials;
    const payload = body === undefined ? undefined : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const request = httpsRequest(
        new URL(server.pathname.replace(/\/$/, '') + path, server),
        {
          method,
          agent: this.#agent,
          signal,
          headers: {
            accept: accept ?? JSON_TYPE,
            'user-agent': 'sno-agents',
            ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
            ...impersonation(actingFor),
            ...(payload === undefined
              ? {}
              : {
                  'content-type': contentType ?? JSON_TYPE,
                  // Node gives the body of a DELETE no length, and a server then does not read it.
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

function agentFor(access: Access): Agent {
  const { ca, serverName, certificate, key, connections } = access;
  const isDirect = serverName === undefined && connections === undefined;
  const options = {
    keepAlive: true,
    ca,
    // As kubectl does: what a kubeconfig trusts may be the certificate of an issuer that is not a root.
    allowPartialTrustChain: true,
    cert: certificate,
    key,
    ...(isDirect ? {} : verifiedFor(access)),
  };
  return connections?.(options) ?? new HttpsAgent(options);
}

/** The connection itself may know another name than the server's. An address is none that a client names (RFC 6066). */
function verifiedFor({ server, serverName }: Access) {
  const name = serverName ?? server.hostname.replace(/^\[|\]$/g, '');
  return {
    servername: isIP(name) === 0 ? name : '',
    checkServerIdentity: (_host: string, certificate: PeerCertificate) =>
      checkServerIdentity(name, certificate),
  };
}

function impersonation(actingFor: Access['actingFor']): OutgoingHttpHeaders {
  if (actingFor === undefined) return {};
  const { user, groups, uid, extra = {} } = actingFor;
  return {
    'impersonate-user': user,
    'impersonate-group': [...groups],
    ...(uid === undefined ? {} : { 'impersonate-uid': uid }),
    ...Object.fromEntries(
      Object.entries(extra).map(([key, values]) => [
        `impersonate-extra-${encodeURIComponent(key)}`,
        [...values],
      ]),
    ),
  };
}

const describe = ({ method, path }: Call) => `${method} ${path}`;

async function wholeAnswer(
  response: IncomingMessage,
  request: string,
  mostBytes: number,
): Promise<Answer> {
  const { statusCode: code = 0, headers, headersDistinct } = response;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response) {
    chunks.push(chunk);
    size += chunk.length;
    // Leaving the loop closes the connection.
    if (size > mostBytes) throw tooLong(request, mostBytes);
  }
  return {
    code,
    body: Buffer.concat(chunks).toString(),
    retryAfter: headers['retry-after'],
    warnings: warningTexts(headersDistinct.warning),
  };
}

function either({ signal, deadlineMs }: Limits): AbortSignal {
  signal.throwIfAborted();
  return AbortSignal.any([signal, AbortSignal.timeout(Math.max(1, Math.ceil(deadlineMs)))]);
}

/** Complete lines only: the part of a line before the end of a connection is dropped. */
async function* splitLines(
  chunks: AsyncIterable<Uint8Array>,
  request: string,
): AsyncGenerator<string> {
  // A line is joined once, when it ends: joining it with each chunk would cost the square of its length.
  let parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    let begin = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, begin)) {
      const line = Buffer.concat([...parts, chunk.subarray(begin, end)]).toString();
      begin = end + 1;
      parts = [];
      size = 0;
      if (line !== '') yield line;
    }
    parts.push(chunk.subarray(begin));
    size += chunk.length - begin;
    if (size > MOST_BYTES) throw tooLong(request, MOST_BYTES);
  }
}
