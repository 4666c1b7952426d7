/** Whose clients a server says that it accepts. */
import { once } from 'node:events';
import { createServer as createPlainServer, type Server, type Socket } from 'node:net';
import { createServer } from 'node:tls';
import t, { type Test } from 'tap';
import { z } from 'zod';
import { namedAuthorities } from '../../../../agents/upkeep/renew/named-authorities.ts';
import { createAuthority, issueLeaf } from '../../../../lab/certificates/signed-now.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';

const limits = { signal: new AbortController().signal, deadlineMs: 60_000 };
const authority = await createAuthority('serving-ca');
const pair = await issueLeaf(authority, {
  subject: { commonName: 'server' },
  usage: 'server',
  ipAddresses: ['127.0.0.1'],
});
const [first, second, other] = await Promise.all(
  ['first-ca', 'second-ca', 'other-ca'].map(
    async (name) => (await createAuthority(name)).certificate,
  ),
);

async function urlOf(t: Test, server: Server) {
  server.listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await once(server, 'listening');
  const { port } = z.object({ port: z.number() }).parse(server.address());
  return `https://127.0.0.1:${port}`;
}

t.test('those that it names, in the order in which they are asked for', async (t) => {
  const accepted = [first ?? '', second ?? ''];
  const server = createServer({
    ...{ cert: pair.certificate, key: pair.key, ca: accepted },
    ...{ requestCert: true, rejectUnauthorized: false },
  });
  const sockets: Socket[] = [];
  server.on('connection', (socket: Socket) => sockets.push(socket));
  const url = await urlOf(t, server);
  const asked = [other ?? '', ...accepted.toReversed()];
  const found = await namedAuthorities({ url, ca: authority.certificate }, asked, limits);
  t.same(found, accepted.toReversed());
  for (const socket of sockets) if (!socket.destroyed) await once(socket, 'close');
  t.equal(sockets.length, 1, 'on one connection, which ends');
  await t.rejects(namedAuthorities({ url, ca: other ?? '' }, asked, limits), 'it is verified');
});

t.test('a server that does not run ends the wait at once', async (t) => {
  const server = createPlainServer();
  const url = await urlOf(t, server);
  server.close();
  await once(server, 'close');
  const gone = await thrownBy(namedAuthorities({ url, ca: authority.certificate }, [], limits));
  t.match(gone, { code: 'ECONNREFUSED' });
});

t.test('a server that says nothing is given up at the deadline, and with its caller', async (t) => {
  const silent = createPlainServer((socket) => void socket.on('error', () => {}).resume());
  const url = await urlOf(t, silent);
  const server = { url, ca: authority.certificate };
  const late = await thrownBy(namedAuthorities(server, [], { ...limits, deadlineMs: 50 }));
  t.match(late, { name: 'AbortError' });
  const stop = new AbortController();
  const ended = thrownBy(namedAuthorities(server, [], { ...limits, signal: stop.signal }));
  stop.abort(new Error('stopped by the test'));
  t.match(await ended, { name: 'AbortError' });
});
