import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { join, normalize } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { BRIDGE_ADDRESS } from './network.ts';
import type { Teardown } from './teardown.ts';

export interface ServerOptions {
  /** The file at this path is served with its first byte changed. */
  readonly damaged?: string | undefined;
  /** The file at this path is served to the first who asks, and to nobody else. */
  readonly once?: string | undefined;
  /** Of the lab on a bridge. Default: on that of the installation. */
  readonly address?: string;
  /** Served by HTTPS, as PEM. */
  readonly tls?: { readonly certificate: string; readonly key: string };
}

/** Serves the files below `folder`, like a site's web server, and returns its URL. */
export async function serveFiles(
  folder: string,
  port: number,
  teardown: Teardown,
  { damaged, once, address = BRIDGE_ADDRESS, tls }: ServerOptions = {},
): Promise<string> {
  let isTaken = false;
  const answer: RequestListener = async (request, response) => {
    try {
      const { pathname } = new URL(request.url ?? '/', 'http://server');
      if (pathname === once) {
        if (isTaken) throw new Error('somebody has it already');
        isTaken = true;
      }
      // normalize() of an absolute path cannot leave its root.
      const file = join(folder, normalize(decodeURIComponent(pathname)));
      const { size } = await stat(file);
      response.writeHead(200, { 'content-length': size });
      const content = createReadStream(file);
      if (pathname === damaged) await pipeline(content, otherFirstByte, response);
      else await pipeline(content, response);
    } catch {
      if (!response.headersSent) response.writeHead(404);
      response.end();
    }
  };
  const server =
    tls === undefined
      ? createServer(answer)
      : createTlsServer({ cert: tls.certificate, key: tls.key }, answer);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, address, resolve);
  });
  teardown.add('stop the web server', async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `${tls === undefined ? 'http' : 'https'}://${address}:${port}`;
}

async function* otherFirstByte(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let first = true;
  for await (const part of content) {
    if (first) part[0] = (part[0] ?? 0) ^ 1;
    first = false;
    yield part;
  }
}
