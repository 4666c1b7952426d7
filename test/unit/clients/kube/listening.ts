import type { Server as PlainServer } from 'node:http';
import type { Server } from 'node:https';
import type { Test } from 'tap';

/** The port at which a server listens on loopback until the test ends. */
export async function listening(t: Test, server: Server | PlainServer): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', resolve);
  await promise;
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
