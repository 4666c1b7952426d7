import { createServer as createHttp } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import { listen } from '../../../../lab/servers/upstream/site.ts';

export interface Relay {
  readonly port: number;
  /** How often it cut a connection. */
  cuts(): number;
  close(): void;
}

/** Passes connections on to a port of this machine, and cuts some of them after that many bytes of answers. */
export async function cutting(target: number, afterBytes: number, most = Infinity): Promise<Relay> {
  let cuts = 0;
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    let left = afterBytes;
    client.pipe(upstream);
    upstream.on('data', (piece) => {
      const isCut = cuts < most && left < piece.length;
      client.write(isCut ? piece.subarray(0, Math.max(0, left)) : piece);
      left -= piece.length;
      if (!isCut || client.destroyed) return;
      cuts += 1;
      client.end();
      upstream.destroy();
    });
    upstream.on('end', () => client.end());
    for (const socket of [client, upstream]) quiet(socket, client, upstream);
  });
  return { port: await listen(server), cuts: () => cuts, close: () => server.close() };
}

export interface Proxy {
  readonly url: string;
  /** The hosts that it was asked for. */
  asked(): string[];
  close(): void;
}

/** An HTTP proxy that has a port of this machine for each host, and nothing else. */
export async function proxyTo(portOf: (host: string) => number): Promise<Proxy> {
  const asked: string[] = [];
  const server = createHttp();
  server.on('connect', (request, client) => {
    const [host = ''] = request.url?.split(':') ?? [];
    asked.push(host);
    const upstream = connect(portOf(host), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      client.pipe(upstream);
      upstream.pipe(client);
    });
    const end = () => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) socket.on('error', end);
  });
  const port = await listen(server);
  return { url: `http://127.0.0.1:${port}`, asked: () => asked, close: () => server.close() };
}

function quiet(socket: Socket, ...both: readonly Socket[]): void {
  socket.on('error', () => {
    for (const each of both) each.destroy();
  });
}
