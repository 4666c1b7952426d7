import { createServer, type TLSSocket } from 'node:tls';
import type { Test } from 'tap';
import type { KeyPair } from '../../../lib/pki/authority.ts';

/** In the router's place: shows one certificate to everybody. */
export async function startIngress(t: Test, { certificate, key }: KeyPair): Promise<number> {
  const server = createServer({ cert: certificate, key }, (socket: TLSSocket) =>
    socket.on('error', () => {}),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
