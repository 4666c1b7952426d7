import type {
  IncomingHttpHeaders,
  IncomingMessage,
  RequestListener,
  ServerResponse,
} from 'node:http';
import { text } from 'node:stream/consumers';
import type { Test } from 'tap';
import { accessTo } from '../../../../lib/render/access.ts';
import { adminKubeconfig, serveApi } from '../../gather/cluster/serve-api.ts';
import type { TestHost } from './host.ts';

/** A request as passed to its answer; `body` is text, empty if there is none. */
export interface ApiRequest {
  readonly query: URLSearchParams;
  readonly body: string;
  readonly headers: IncomingHttpHeaders;
}

/** The API's answer: an object with status 200, `warn(...)` or `refuse(...)`; may be delayed. */
export type ApiAnswer = (request: ApiRequest) => object | Promise<object>;

/** A status other than 200. */
class Refusal {
  readonly code: number;
  readonly message: string;
  readonly reason: string;

  constructor(code: number, message: string, reason: string) {
    this.code = code;
    this.message = message;
    this.reason = reason;
  }
}
export const refuse = (code: number, message = 'refused by the test', reason = '') =>
  new Refusal(code, message, reason);

/** A success of which the API warns. */
class Warned {
  readonly body: object;
  readonly text: string;

  constructor(body: object, text: string) {
    this.body = body;
    this.text = text;
  }
}
export const warn = (body: object, text: string) => new Warned(body, text);

/** An API list of these objects. */
export const listOf = (...items: object[]) => ({ metadata: { resourceVersion: '1' }, items });

export const { kubeconfigs, deferredIdentity } = accessTo('kubernetes');

/**
 * An API server on loopback, and the kubeconfigs with which this host's agents find it. It answers
 * by method and path (`GET /readyz`); watches stay open without events. A request without an answer
 * from the test is refused and fails the test at its end. `ca`: the authority of clients that it names, PEM.
 */
export async function fakeApi(
  t: Test,
  host: TestHost,
  answers: Readonly<Record<string, ApiAnswer>>,
  ca?: string,
) {
  const requests: string[] = [];
  const unexpected: string[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { pathname, searchParams: query } = new URL(request.url ?? '/', 'https://x');
    const body = await text(request);
    if (query.get('watch') === 'true') return void response.writeHead(200).flushHeaders();
    const name = `${request.method} ${pathname}`;
    requests.push(name);
    if (answers[name] === undefined) unexpected.push(name);
    const given =
      (await answers[name]?.({ query, body, headers: request.headers })) ??
      refuse(403, `no answer for ${name}`);
    if (given instanceof Warned) {
      response.writeHead(200, { warning: `299 - ${JSON.stringify(given.text)}` });
      return void response.end(JSON.stringify(given.body));
    }
    if (!(given instanceof Refusal)) return void response.end(JSON.stringify(given));
    const { code, message, reason } = given;
    response.writeHead(code).end(JSON.stringify({ kind: 'Status', code, message, reason }));
  };
  const listener: RequestListener = (request, response) => void answer(request, response);
  const { port, stop, clients } = await serveApi(t, listener, ca);
  for (const path of [...Object.values(kubeconfigs), deferredIdentity.kubeconfig]) {
    host.write(path, adminKubeconfig(port), 0o600);
  }
  t.teardown(() => {
    if (unexpected.length > 0) throw new Error(`unexpected requests: ${unexpected.join(', ')}`);
  });
  return { requests, clients, stop };
}
