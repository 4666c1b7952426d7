import { once } from 'node:events';
import { createServer } from 'node:https';
import { Failure } from '../../lib/base/errors/failure.ts';
import type { KeyPair } from '../../lib/pki/authority.ts';

/** A server on 127.0.0.1 that accepts the clients that a kubelet accepts, and answers every request. */
export interface KubeletEndpoint extends Disposable {
  readonly url: string;
}

/** `serving`: its certificate and key; `clientCa`: of the clients that it accepts. All PEM. */
export async function startKubeletEndpoint(
  serving: KeyPair,
  clientCa: string,
): Promise<KubeletEndpoint> {
  const options = { cert: serving.certificate, key: serving.key, ca: clientCa, requestCert: true };
  const server = createServer(options, (_, response) => response.end('ok'));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') {
    throw new Failure('fatal', 'the server has no port');
  }
  return {
    url: `https://127.0.0.1:${address.port}`,
    [Symbol.dispose]: () => void server.close(),
  };
}
