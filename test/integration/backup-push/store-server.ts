import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { Test } from 'tap';
import { createAuthority, issueLeaf } from '../../../lab/certificates/signed-now.ts';

export interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** How one request is answered in place of the store. */
export type Reaction = (asked: Asked, response: ServerResponse) => void;

export const answering =
  (status: number, body = '', headers: Record<string, string> = {}): Reaction =>
  (_, response) => {
    response.writeHead(status, headers);
    response.end(body);
  };

/** The connection ends without an answer, or within one. */
export const cut: Reaction = (_, response) => void response.destroy();
export const cutWithin: Reaction = (_, response) => {
  response.writeHead(200, { 'content-length': '1000' });
  response.write('x', () => response.destroy());
};
/** As the store answers. */
export const right = 'right';

const authority = await createAuthority('store');
const server = await issueLeaf(authority, {
  subject: { commonName: 'store' },
  usage: 'server',
  dnsNames: ['localhost'],
});

/** An HTTPS server that keeps what is PUT, and answers the first requests by the reactions in their order. */
export async function storeServer(t: Test, reactions: readonly (Reaction | typeof right)[] = []) {
  const asked: Asked[] = [];
  const stored = new Map<string, Buffer>();
  const store: Reaction = ({ method, url, body }, response) => {
    if (method === 'PUT') {
      stored.set(url, body);
      answering(201)({ method, url, body, headers: {} }, response);
      return;
    }
    const found = stored.get(url);
    response.writeHead(found === undefined ? 404 : 200);
    response.end(found);
  };
  const listener = createServer(
    { cert: server.certificate, key: server.key },
    (request, response) => {
      const pieces: Buffer[] = [];
      request.on('data', (piece: Buffer) => pieces.push(piece));
      request.on('end', () => {
        const { method = '', url = '', headers } = request;
        const it = { method, url, headers, body: Buffer.concat(pieces) };
        const reaction = reactions[asked.length];
        asked.push(it);
        if (reaction === undefined || reaction === right) store(it, response);
        else reaction(it, response);
      });
    },
  );
  listener.listen(0, 'localhost');
  await once(listener, 'listening');
  t.teardown(async () => {
    listener.closeAllConnections();
    await new Promise((resolve) => listener.close(resolve));
  });
  const address = listener.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  return { asked, stored, authority: authority.certificate, url: `https://localhost:${port}/` };
}
