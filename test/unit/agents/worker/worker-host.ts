import type { Test } from 'tap';
import { issueLeaf } from '../../../../lab/certificates/signed-now.ts';
import { workerPaths } from '../../../../lib/cluster/workers/paths.ts';
import type { KeyPair } from '../../../../lib/pki/authority.ts';
import { tokenKubeconfig } from '../../../../lib/pki/kubeconfig.ts';
import { FakeApi } from '../../clients/kube/fake-api.ts';
import { adminKubeconfig, serveApi, servingAuthority } from '../../gather/cluster/serve-api.ts';
import { type HostOptions, type TestHost, testHost } from '../host/host.ts';
import { giveAddresses } from '../host/network.ts';
import { writePayload } from '../host/payload.ts';
import { fakeRuntime } from '../host/runtime.ts';

export const REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
export const NODES = '/api/v1/nodes';
export const CURRENT = '/var/lib/kubelet/pki/kubelet-client-current.pem';
const TRUST = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication';
export const KUBECONFIG = '/var/lib/kubelet/kubeconfig';

export interface WorkerHost {
  readonly host: TestHost;
  readonly api: FakeApi;
}

/** A worker with its bootstrap kubeconfig, and an API that is ready. */
export async function workerHost(t: Test, options: HostOptions = {}): Promise<WorkerHost> {
  const api = new FakeApi();
  api.rule(({ path }) => (path === '/readyz' ? { code: 200, body: 'ok' } : undefined));
  const { port } = await serveApi(t, (message, response) => api.answer(message, response));
  const host = testHost(t, { hostname: 'worker-0', ...options });
  const ca = host.at(workerPaths.apiCa);
  host.write(ca, servingAuthority);
  const server = `https://127.0.0.1:${port}`;
  const access = { authority: ca, token: 'abcdef.0123456789abcdef' };
  host.write(
    workerPaths.bootstrapKubeconfig,
    tokenKubeconfig({ server, cluster: 'local', user: 'worker' }, access),
    0o600,
  );
  host.write(KUBECONFIG, adminKubeconfig(port), 0o600);
  return { host, api };
}

/** A worker with its identity, signed by `nodes`, whose cluster publishes `clients` as the authorities of clients. */
export async function identifiedHost(
  t: Test,
  nodes: KeyPair,
  clients: string,
): Promise<WorkerHost> {
  const it = await workerHost(t);
  const subject = { commonName: 'system:node:worker-0', organizations: ['system:nodes'] };
  const { certificate, key } = await issueLeaf(nodes, { subject, usage: 'client' });
  it.host.write(CURRENT, `${certificate}${key}`, 0o600);
  writePayload(it.host, '/run/media/iso/sno-agents/payload');
  giveAddresses(it.host, '192.0.2.20/24', '198.51.100.7/24');
  await fakeRuntime(t, it.host, () => [], {
    Status: () => ({ status: {}, info: {} }),
    RuntimeConfig: () => ({ linux: { cgroupDriver: 'SYSTEMD' } }),
  });
  it.api.set(TRUST, {
    metadata: { name: 'extension-apiserver-authentication', namespace: 'kube-system' },
    data: { 'client-ca-file': clients },
  });
  return it;
}
