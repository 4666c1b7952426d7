import { once } from 'node:events';
import { connect as connectPlain } from 'node:net';
import { Duplex } from 'node:stream';
import { connect } from 'node:tls';
import type { Limits } from '../../../lib/base/wait/limits.ts';
import { parseCertificate } from '../../../lib/pki/certificate.ts';

/**
 * Which of the authorities (PEM) a server names when it asks for a client's certificate: those whose
 * clients it accepts. Up to TLS 1.2 it names them in plain text (RFC 5246, 7.4.4), which Node does
 * not report, so the bytes are searched for the names. No two authorities may have the same name.
 */
export async function namedAuthorities(
  server: { readonly url: string; readonly ca: string },
  authorities: readonly string[],
  limits: Limits,
): Promise<string[]> {
  const handshake = await receivedInHandshake(server, limits);
  return authorities.filter((pem) =>
    handshake.includes(Buffer.from(parseCertificate(pem).subjectName.toArrayBuffer())),
  );
}

/** Everything that a server sends until the connection is established. */
async function receivedInHandshake(
  { url, ca }: { readonly url: string; readonly ca: string },
  { signal, deadlineMs }: Limits,
): Promise<Buffer> {
  const { hostname, port } = new URL(url);
  const plain = connectPlain({ host: hostname, port: Number(port) });
  const received: Buffer[] = [];
  const relay = new Duplex({
    read: () => plain.resume(),
    write: (chunk, _encoding, done) => plain.write(chunk, done),
    final: (done) => plain.end(done),
  });
  plain.on('data', (chunk: Buffer) => {
    received.push(chunk);
    relay.push(chunk);
  });
  plain.on('end', () => relay.push(null));
  plain.on('error', (error) => relay.destroy(error));
  const socket = connect({ socket: relay, host: hostname, ca, maxVersion: 'TLSv1.2' });
  // Also bytes that arrive after the one that ends the wait.
  socket.on('error', () => {});
  relay.on('error', (error) => socket.destroy(error));
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(Math.ceil(deadlineMs))]);
    await once(socket, 'secureConnect', { signal: limit });
    return Buffer.concat(received);
  } finally {
    socket.destroy();
    plain.destroy();
  }
}
