import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { TLSSocket } from 'node:tls';
import t, { type Test } from 'tap';
import type { AuthorityName } from '../../../lib/render/kubernetes/authorities.ts';
import { textAt } from '../../unit/render/rendered-host.ts';
import { leafOf, NAMESPACE, NODE, type World } from './world.ts';

/** What a kubelet sees of a client. */
interface Seen {
  readonly path: string;
  readonly client: string;
  readonly trusted: boolean;
}

/** Answers a log request like a kubelet, with a certificate from that CA. */
async function fakeKubelet(t: Test, authority: AuthorityName, addresses: string[]) {
  const seen: Seen[] = [];
  const own = await leafOf(authority, `system:node:${NODE}`, {
    organizations: ['system:nodes'],
    usage: 'server',
    dnsNames: [NODE],
    ipAddresses: addresses,
  });
  const server = createServer(
    {
      cert: own.certificate,
      key: own.key,
      requestCert: true,
      rejectUnauthorized: false,
      // The client CA of the rendered kubelet.
      ca: textAt('/etc/kubernetes/pki/kubelet/client-ca.crt'),
    },
    (request, response) => {
      const { socket, url = '' } = request;
      if (socket instanceof TLSSocket) {
        const { CN } = socket.getPeerCertificate().subject ?? {};
        seen.push({ path: url, client: String(CN), trusted: socket.authorized });
      }
      response.end('a line of its log\n');
    },
  );
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address: AddressInfo | string | null = server.address();
      resolve(address === null || typeof address === 'string' ? 0 : address.port);
    });
  });
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port, seen };
}

export function kubeletAttacks(world: World): void {
  const logOf = async (port: number) => {
    const { api, node, admin } = world;
    const status = {
      addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
      daemonEndpoints: { kubeletEndpoint: { Port: port } },
    };
    const path = `/api/v1/nodes/${NODE}/status`;
    const { code, body } = await api({ ...node, method: 'PATCH', path, body: { status } });
    if (code !== 200) throw new Error(`${code} ${body}`);
    return api({ ...admin, path: `/api/v1/namespaces/${NAMESPACE}/pods/web/log?container=web` });
  };

  t.test('the API server authenticates to the kubelet', async (t) => {
    const { port, seen } = await fakeKubelet(t, 'kubelet-serving', ['127.0.0.1']);
    t.match(await logOf(port), { code: 200, body: 'a line of its log\n' });
    t.match(seen, [
      {
        path: new RegExp(`^/containerLogs/${NAMESPACE}/web/web`),
        client: 'kube-apiserver-kubelet-client',
        trusted: true,
      },
    ]);
  });

  for (const [what, authority, addresses] of [
    ["a server of the API's authority", 'serving', ['127.0.0.1']],
    ['a client of the API that listens', 'kubelet-client', ['127.0.0.1']],
    ['a kubelet of another address', 'kubelet-serving', ['192.0.2.99']],
  ] as const) {
    t.test(`${what} is not accepted as the kubelet of that node`, async (t) => {
      const { port, seen } = await fakeKubelet(t, authority, [...addresses]);
      t.match(await logOf(port), { code: 500, body: /x509/ });
      t.same(seen, [], 'nothing was asked of it');
    });
  }
}
