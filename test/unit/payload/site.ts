import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A web server that answers by path and records its requests. */
export async function openSite(
  answers: Readonly<Record<string, Answer>>,
): Promise<{ url: string; asked: string[]; close(): Promise<void> }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const { method, url = '/', headers } = request;
    asked.push([method, url, headers.range].filter((part) => part !== undefined).join(' '));
    const answer = answers[url];
    if (answer !== undefined) return answer(request, response);
    response.writeHead(404);
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address: AddressInfo | string | null = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A file, complete or from the requested offset; `ranges: false`: always complete. */
export const fileOf =
  (content: string | Buffer, { ranges = true } = {}): Answer =>
  ({ method, headers }, response) => {
    const bytes = Buffer.from(content);
    const from = Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? 0);
    if (!ranges || from === 0) {
      response.writeHead(200, { 'content-length': bytes.length });
      return void response.end(method === 'HEAD' ? undefined : bytes);
    }
    if (from >= bytes.length) {
      response.writeHead(416, { 'content-range': `bytes */${bytes.length}` });
      return void response.end();
    }
    response.writeHead(206, {
      'content-length': bytes.length - from,
      'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}`,
    });
    response.end(bytes.subarray(from));
  };

/** Announces the file's length, sends half of it and closes the connection. */
export const half =
  (content: string | Buffer): Answer =>
  (_, response) => {
    const bytes = Buffer.from(content);
    response.writeHead(200, { 'content-length': bytes.length });
    response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy());
  };

export const redirect =
  (to: string): Answer =>
  (_, response) => {
    response.writeHead(302, { location: to });
    response.end();
  };

/** A status without a body. */
export const answering =
  (status: number): Answer =>
  (_, response) => {
    response.writeHead(status);
    response.end();
  };
