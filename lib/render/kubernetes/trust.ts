import type { TakeUp } from '../../pki/inventory.ts';
import type { AuthorityName } from './authorities.ts';
import { etcdClient, etcdTrust } from './etcd.ts';
import { apiServerTrust } from './kube-apiserver.ts';
import { controllerManagerTrust } from './kube-controller-manager.ts';
import { schedulerTrust } from './kube-scheduler.ts';
import { agentsTrust } from './kubeconfigs.ts';
import { kubeletTrust } from './kubelet.ts';

/** A file with the authorities that its user trusts. */
export interface TrustFile {
  readonly name: string;
  readonly path: string;
  /** In the order in which their certificates are in the file. */
  readonly authorities: readonly AuthorityName[];
  /** The laptop's authority (`laptopAdminCa`) is behind them, while the host has it. */
  readonly trustsLaptop: boolean;
  readonly user: string;
  readonly takeUp: TakeUp;
}

/** As `clientBundle` joins them. */
const clients = ['kubelet-client', 'admin'] as const;

/**
 * Every file with trusted authorities. Servers read those of their clients again. Clients read those
 * of a server once (client-go, transport.go loadTLSFiles), and so does etcd
 * (transport/listener.go).
 */
export const trustFiles: readonly TrustFile[] = [
  trust('etcd-clients', etcdTrust, ['etcd'], 'etcd', 'pod-restart'),
  ...ofComponent('kube-apiserver', [
    ['clients', apiServerTrust.clients, clients, 'itself'],
    ['etcd', apiServerTrust.etcd, ['etcd'], 'pod-restart'],
    ['kubelets', apiServerTrust.kubelets, ['kubelet-serving'], 'pod-restart'],
    ['front-proxy', apiServerTrust.frontProxy, ['front-proxy'], 'itself'],
  ]),
  ...ofComponent('kube-controller-manager', [
    ['api', controllerManagerTrust.api, ['serving'], 'pod-restart'],
    ['clients', controllerManagerTrust.clients, clients, 'itself'],
    ['front-proxy', controllerManagerTrust.frontProxy, ['front-proxy'], 'itself'],
  ]),
  ...ofComponent('kube-scheduler', [
    ['api', schedulerTrust.api, ['serving'], 'pod-restart'],
    ['clients', schedulerTrust.clients, clients, 'itself'],
    ['front-proxy', schedulerTrust.frontProxy, ['front-proxy'], 'itself'],
  ]),
  ...ofComponent('kubelet', [
    ['api', kubeletTrust.api, ['serving'], 'kubelet-restart'],
    ['clients', kubeletTrust.clients, ['admin'], 'itself'],
  ]),
  ...ofComponent('sno-agents', [
    ['api', agentsTrust, ['serving'], 'itself'],
    ['etcd', etcdClient.authority, ['etcd'], 'itself'],
  ]),
];

type Row = readonly [
  name: string,
  path: string,
  authorities: readonly AuthorityName[],
  takeUp: TakeUp,
];

function ofComponent(user: string, rows: readonly Row[]): TrustFile[] {
  return rows.map(([name, path, authorities, takeUp]) =>
    trust(`${user}-${name}`, path, authorities, user, takeUp),
  );
}

function trust(
  name: string,
  path: string,
  authorities: readonly AuthorityName[],
  user: string,
  takeUp: TakeUp,
): TrustFile {
  // The first kubeconfig is for the API server. Nothing else has clients from outside.
  const trustsLaptop = path === apiServerTrust.clients;
  return { name, path, authorities, trustsLaptop, user, takeUp };
}
