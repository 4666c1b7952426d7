import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { TLSSocket } from 'node:tls';
import type { Test } from 'tap';
import { createAuthority, issueLeaf } from '../../../lab/certificates/signed-now.ts';

/** What the server was asked. */
export interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** Common name of the client; empty without a certificate. */
  readonly client: string;
}

export type Reaction = (asked: Asked, response: ServerResponse) => void;

export const answering =
  (status: number, body: object | string = {}, headers: Record<string, string> = {}): Reaction =>
  (_, response) => {
    response.writeHead(status, headers);
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };

/** As the policy of a hub refuses what is not newer. */
export const newerThan = (sequence: number): Reaction =>
  answering(422, {
    kind: 'Status',
    status: 'Failure',
    message: `sites.fleet.sno-agents.io "berlin" is forbidden: ValidatingAdmissionPolicy 'sites' denied request: the report must be newer than ${sequence}`,
    code: 422,
  });

export const authority = await createAuthority('hub');
const server = await issueLeaf(authority, {
  subject: { commonName: 'hub' },
  usage: 'server',
  dnsNames: ['localhost'],
});
export const client = await issueLeaf(authority, {
  subject: { commonName: 'sno:site:shops:berlin', organizations: ['sno:sites'] },
  usage: 'client',
});

/** An HTTPS server that answers by the reactions in their order, then by the last one. It demands a certificate unless told otherwise. */
export async function receive(
  t: Test,
  reactions: Reaction[],
  { anyClient = false, port = 0 } = {},
) {
  const asked: Asked[] = [];
  const listener = createServer(
    {
      cert: server.certificate,
      key: server.key,
      ca: authority.certificate,
      requestCert: !anyClient,
      rejectUnauthorized: !anyClient,
    },
    (request, response) => {
      const pieces: Buffer[] = [];
      request.on('data', (piece: Buffer) => pieces.push(piece));
      request.on('end', () => {
        const { method = '', url = '', headers } = request;
        const body = Buffer.concat(pieces).toString();
        const it = { method, url, headers, body, client: nameOf(request) };
        asked.push(it);
        const reaction = reactions.length > 1 ? reactions.shift() : reactions[0];
        reaction?.(it, response);
      });
    },
  );
  listener.listen(port, 'localhost');
  await once(listener, 'listening');
  const close = async () => {
    listener.closeAllConnections();
    if (listener.listening) await new Promise((resolve) => listener.close(resolve));
  };
  t.teardown(close);
  const address = listener.address();
  const used = typeof address === 'object' ? (address?.port ?? 0) : 0;
  return { asked, close, port: used, url: `https://localhost:${used}` };
}

function nameOf({ socket }: IncomingMessage): string {
  return socket instanceof TLSSocket ? String(socket.getPeerCertificate().subject?.CN ?? '') : '';
}
