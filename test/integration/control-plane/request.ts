import { request as httpsRequest, type RequestOptions } from 'node:https';
import { text } from 'node:stream/consumers';

/** The caller's identity: a certificate, a token, or none. */
export interface Caller {
  readonly certificate?: string;
  readonly key?: string;
  readonly token?: string;
}

export interface Answer {
  readonly code: number;
  readonly body: string;
}

export interface Request extends Caller {
  readonly port: number;
  readonly path: string;
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: object;
  /** CA of the server; without it, the server is not verified. */
  readonly ca?: string;
  readonly tls?: Pick<RequestOptions, 'minVersion' | 'maxVersion' | 'ciphers'>;
}

/** One request on its own connection. Rejects if TLS fails. */
export function ask(request: Request): Promise<Answer> {
  const { port, path, method = 'GET', certificate, key, token, headers, body, ca, tls } = request;
  return new Promise((resolve, reject) => {
    const sent = httpsRequest(
      {
        host: '127.0.0.1',
        port,
        path,
        method,
        agent: false,
        timeout: 30_000,
        ...(ca === undefined ? { rejectUnauthorized: false } : { ca }),
        ...(certificate === undefined ? {} : { cert: certificate, key }),
        headers: {
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined
            ? {}
            : {
                'content-type':
                  method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
              }),
          ...headers,
        },
        ...tls,
      },
      (response) => {
        text(response).then(
          (answer) => resolve({ code: response.statusCode ?? 0, body: answer }),
          reject,
        );
      },
    );
    sent.on('error', reject);
    sent.on('timeout', () => sent.destroy(new Error(`no answer to ${method} ${path}`)));
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** Like `ask`, but returns the reason if TLS fails. */
export async function attempt(request: Request): Promise<number | string> {
  try {
    return (await ask(request)).code;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
