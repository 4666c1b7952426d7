import { readFile } from 'node:fs/promises';
import type { Cluster } from '../cluster/cluster.ts';
import { Failure } from '../errors/failure.ts';
import { connectEtcd, type EtcdClient } from '../etcd/client.ts';
import type { HostPaths } from '../host/paths.ts';
import { type KubeClient, kubeClient } from '../kube/client.ts';
import { authorityPaths } from './kubernetes/authorities.ts';
import { etcdClient, etcdMember } from './kubernetes/etcd.ts';
import { kubernetesRenderer } from './kubernetes/index.ts';
import { agentKubeconfigs } from './kubernetes/kubeconfigs.ts';
import { issuedLeaves } from './kubernetes/leaves.ts';
import { localApi } from './kubernetes/paths.ts';
import type { Renderer } from './renderer.ts';

/** What the agents need to know of a kind of control plane once it is rendered. */
export interface ControlPlaneAccess {
  readonly renderer: Renderer;
  readonly etcd: {
    readonly member: { readonly name: string; readonly peerUrl: string; readonly token: string };
    readonly clientUrl: string;
    /** Paths on the host. */
    readonly ca: string;
    readonly certificate: string;
    readonly key: string;
  };
  /** Kubeconfigs on the host, by what they are for. */
  readonly kubeconfigs: { readonly bootstrapAdmin: string; readonly csrApprover: string };
  /** Files on the host by which deferred manifests are applied, and nothing else. */
  readonly deferredIdentity: {
    readonly kubeconfig: string;
    readonly certificate: string;
    readonly key: string;
  };
  /**
   * Paths by which a log bundle is gathered, on both hosts. `signer` is the authority of
   * clients, by which a certificate is made that lives as long as the gathering.
   */
  readonly gather: {
    readonly server: string;
    readonly ca: string;
    readonly signer: { readonly certificate: string; readonly key: string };
    /** The API server's own way to etcd: the agents' exists on the live host alone. */
    readonly etcd: { readonly ca: string; readonly certificate: string; readonly key: string };
    /** Health and metrics of etcd, where its static pod does not say where. */
    readonly etcdMetricsUrl: string;
  };
  /** Signs nodes' identities: paths of its certificate and key. */
  readonly kubeletClientAuthority: { readonly certificate: string; readonly key: string };
}

const kubernetes: ControlPlaneAccess = {
  renderer: kubernetesRenderer,
  etcd: {
    member: {
      name: etcdMember.name,
      peerUrl: etcdMember.peerUrl,
      token: etcdMember.clusterToken,
    },
    clientUrl: etcdClient.url,
    ca: etcdClient.authority,
    certificate: etcdClient.certificate,
    key: etcdClient.key,
  },
  kubeconfigs: agentKubeconfigs,
  deferredIdentity: {
    kubeconfig: agentKubeconfigs.deferred,
    certificate: issuedLeaves.deferred.certificate,
    key: issuedLeaves.deferred.key,
  },
  gather: {
    server: localApi,
    ca: authorityPaths('serving').certificate,
    signer: authorityPaths('admin'),
    etcd: {
      ca: authorityPaths('etcd').certificate,
      certificate: issuedLeaves.apiServerEtcdClient.certificate,
      key: issuedLeaves.apiServerEtcdClient.key,
    },
    etcdMetricsUrl: etcdMember.metricsUrl,
  },
  kubeletClientAuthority: authorityPaths('kubelet-client'),
};

/** How the control plane of that kind is reached; a Failure for one that cannot be made yet. */
export function accessTo(kind: Cluster['controlPlane']): ControlPlaneAccess {
  if (kind === 'kubernetes') return kubernetes;
  throw new Failure('usage', `there is no control plane of kind ${kind} here`, {
    expected: 'kubernetes',
  });
}

/** Calls etcd with a client of its own for the time of `use`. */
export async function withEtcd<T>(
  kind: Cluster['controlPlane'],
  paths: HostPaths,
  use: (client: EtcdClient) => Promise<T>,
): Promise<T> {
  const { clientUrl, ca, certificate, key } = accessTo(kind).etcd;
  using client = connectEtcd(paths.endpoints.etcd ?? clientUrl, {
    ca: await readFile(paths.at(ca)),
    cert: await readFile(paths.at(certificate)),
    key: await readFile(paths.at(key)),
  });
  return await use(client);
}

/** Calls the API as the bootstrap's administrator, for the time of `use`. */
export async function withBootstrapAdmin<T>(
  kind: Cluster['controlPlane'],
  paths: HostPaths,
  use: (client: KubeClient) => Promise<T>,
): Promise<T> {
  using client = await kubeClient(paths.at(accessTo(kind).kubeconfigs.bootstrapAdmin));
  return await use(client);
}
