import { once } from 'node:events';
import { createServer as createPlain, type RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { Server } from 'node:net';
import type { KeyPair } from '../../../lib/pki/authority.ts';

/** Download sites: files by host and path, such as `dl.k8s.io/release/stable.txt`. */
export interface TestSite {
  readonly port: number;
  readonly files: Map<string, Buffer>;
  /** What was asked for since the last call, with the range. */
  asked(): string[];
  close(): void;
}

/** Serves files to those who ask for a host by its name, and as a mirror of all hosts. */
export async function openDownloads(tls: KeyPair | undefined): Promise<TestSite> {
  const files = new Map<string, Buffer>();
  const log: string[] = [];
  const answer: RequestListener = ({ url = '', headers }, response) => {
    const [host = ''] = headers.host?.split(':') ?? [];
    const path = host === '127.0.0.1' ? url.slice(1) : `${host}${url}`;
    const { range } = headers;
    log.push(range === undefined ? path : `${path} ${range}`);
    const file = files.get(path);
    if (file === undefined) return void response.writeHead(404).end();
    const first = Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0);
    if (first >= file.length) return void response.writeHead(416).end();
    const rest = file.subarray(first);
    const length = { 'content-length': rest.length };
    if (first === 0) return void response.writeHead(200, length).end(rest);
    const contentRange = `bytes ${first}-${file.length - 1}/${file.length}`;
    response.writeHead(206, { ...length, 'content-range': contentRange }).end(rest);
  };
  const server =
    tls === undefined
      ? createPlain(answer)
      : createServer({ cert: tls.certificate, key: tls.key }, answer);
  const port = await listen(server);
  return {
    port,
    files,
    asked: () => log.splice(0),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** The port that it listens at. */
export async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
