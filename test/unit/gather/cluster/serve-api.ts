import type { IncomingMessage, RequestListener } from 'node:http';
import { createServer } from 'node:https';
import { TLSSocket } from 'node:tls';
import type { Test } from 'tap';
import { createAuthority, issueLeaf } from '../../../../lab/certificates/signed-now.ts';
import { kubeconfig } from '../../../../lib/pki/kubeconfig.ts';

const authority = await createAuthority('test authority');
const server = await issueLeaf(authority, {
  subject: { commonName: 'kube-apiserver' },
  usage: 'server',
  ipAddresses: ['127.0.0.1'],
});
const admin = await issueLeaf(authority, { subject: { commonName: 'admin' }, usage: 'client' });

/** An administrator's kubeconfig for the API on that port of this machine. */
export const adminKubeconfig = (port: number) =>
  kubeconfig({
    server: `https://127.0.0.1:${port}`,
    cluster: 'edge',
    user: 'admin',
    credentials: { kind: 'embedded', authority: authority.certificate, ...admin },
  });

/** CA of the API's own certificate, as PEM. */
export const servingAuthority = authority.certificate;

/** Name and groups of a request's client, as its certificate says; undefined without one. */
function clientOf({ socket }: IncomingMessage): string | undefined {
  return socket instanceof TLSSocket ? socket.getPeerX509Certificate()?.subject : undefined;
}

/**
 * An API with these answers until the test ends; client certificates are optional and not verified. `ca`: the authority of
 * clients that it names, PEM. Returns the subjects of its clients, too, each once.
 */
export async function serveApi(t: Test, listener: RequestListener, ca?: string) {
  const identity = { cert: server.certificate, key: server.key, ca };
  const api = createServer({ ...identity, requestCert: true, rejectUnauthorized: false }, listener);
  const clients = new Set<string | undefined>();
  api.on('request', (request) => clients.add(clientOf(request)));
  const { promise, resolve } = Promise.withResolvers<void>();
  api.listen(0, '127.0.0.1', resolve);
  await promise;
  const stop = () => {
    api.closeAllConnections();
    api.close();
  };
  t.teardown(stop);
  const address = api.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { port: address.port, stop, clients };
}
