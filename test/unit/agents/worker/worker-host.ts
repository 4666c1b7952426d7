import type { Test } from 'tap';
import { workerPaths } from '../../../../lib/cluster/workers/paths.ts';
import { tokenKubeconfig } from '../../../../lib/pki/kubeconfig.ts';
import { FakeApi } from '../../clients/kube/fake-api.ts';
import { adminKubeconfig, serveApi, servingAuthority } from '../../gather/cluster/serve-api.ts';
import { type HostOptions, type TestHost, testHost } from '../host/host.ts';

export const REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
export const NODES = '/api/v1/nodes';
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
