import { exists } from '../../host/files.ts';
import type { HostPaths } from '../../host/paths.ts';
import { kubeletTrust } from '../../render/kubernetes/kubelet.ts';
import { localApi } from '../../render/kubernetes/paths.ts';

/** Files of a worker, on the host. */
export const workerPaths = {
  /** With the token that every worker has; deleted when it has joined. */
  bootstrapKubeconfig: '/etc/sno-agents/worker-bootstrap.kubeconfig',
  /** Where sno-api.service connects to. */
  apiAddress: '/etc/sno-agents/api.env',
  /** Whom the worker trusts as the API server. */
  apiCa: kubeletTrust.api,
} as const;

/** Whether a host is a worker: an installed host has its API server on itself, or reaches it so. */
export const isWorker = (paths: Pick<HostPaths, 'at'>): Promise<boolean> =>
  exists(paths.at(workerPaths.apiAddress));

/**
 * The API for every client on a worker: sno-api forwards it to the control-plane host, so that add-ons
 * and kubelets are configured alike on all nodes. TLS ends at the API server.
 */
export const workerApi = localApi;
