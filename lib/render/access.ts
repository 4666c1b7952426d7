import { readFile } from 'node:fs/promises';
import { Failure } from '../base/errors/failure.ts';
import { connectEtcd, type EtcdClient } from '../clients/etcd/client.ts';
import { type KubeClient, kubeClient } from '../clients/kube/client.ts';
import type { Cluster } from '../config/cluster/cluster.ts';
import type { HostPaths } from '../host/paths.ts';
import { authorityPaths } from './kubernetes/authorities.ts';
import { backupFiles } from './kubernetes/backup-files.ts';
import { encryptionConfigPath } from './kubernetes/encryption.ts';
import { etcdClient, etcdMember } from './kubernetes/etcd.ts';
import { kubernetesRenderer } from './kubernetes/index.ts';
import { agentKubeconfigs } from './kubernetes/kubeconfigs.ts';
import { issuedLeaves, users } from './kubernetes/leaves.ts';
import { localApi } from './kubernetes/paths.ts';
import { paths as openShiftPaths } from './openshift/paths.ts';
import type { Renderer } from './renderer.ts';

/** What the agents of a live host need to know about a rendered control plane. */
export interface BootstrapAccess {
  readonly etcd: {
    readonly clientUrl: string;
    /** Paths on the host. */
    readonly ca: string;
    readonly certificate: string;
    readonly key: string;
  };
  /** Kubeconfigs on the host, by purpose. */
  readonly kubeconfigs: { readonly bootstrapAdmin: string; readonly csrApprover: string };
  /** The authority of nodes' identities: paths of its certificate and key. */
  readonly kubeletClientAuthority: { readonly certificate: string; readonly key: string };
  /** Paths of the certificates of authorities that sign kubelets' serving certificates, where they exist. */
  readonly kubeletServingAuthorities: readonly string[];
}

/** The same for every host with a control plane of the Kubernetes payload. */
export interface ControlPlaneAccess extends BootstrapAccess {
  readonly renderer: Renderer;
  readonly etcd: BootstrapAccess['etcd'] & {
    readonly member: { readonly name: string; readonly peerUrl: string; readonly token: string };
  };
  /** Files on the host with which only deferred manifests are applied. */
  readonly deferredIdentity: {
    readonly kubeconfig: string;
    readonly certificate: string;
    readonly key: string;
  };
  /** User with the right to approve requests for serving certificates, and no other. */
  readonly csrApprover: string;
  /**
   * Files with which a log bundle is gathered, on both hosts. `signer` is the authority of
   * clients; it signs a certificate that is valid only as long as the gathering takes.
   */
  readonly gather: {
    readonly server: string;
    readonly ca: string;
    readonly signer: { readonly certificate: string; readonly key: string };
    /** The API server's etcd client: the agents' own exists on the live host only. */
    readonly etcd: { readonly ca: string; readonly certificate: string; readonly key: string };
    /** Health and metrics of etcd, unless its static pod names another address. */
    readonly etcdMetricsUrl: string;
  };
  /** Without these files, a snapshot of its database cannot be used on this host; paths on the host. */
  readonly backup: {
    readonly files: readonly string[];
    /** The one of them with which Secrets are read. */
    readonly encryption: string;
  };
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
  csrApprover: users.csrApprover,
  kubeletServingAuthorities: [authorityPaths('kubelet-serving').certificate],
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
  backup: {
    files: backupFiles,
    encryption: encryptionConfigPath,
  },
  kubeletClientAuthority: authorityPaths('kubelet-client'),
};

const openShift: BootstrapAccess = {
  etcd: {
    clientUrl: 'https://localhost:2379',
    ca: `${openShiftPaths.secrets}/etcd-ca-bundle.crt`,
    certificate: `${openShiftPaths.secrets}/etcd-client.crt`,
    key: `${openShiftPaths.secrets}/etcd-client.key`,
  },
  // Its only identity for the API. No request is approved on a live host, which has no node.
  kubeconfigs: {
    bootstrapAdmin: `${openShiftPaths.secrets}/kubeconfig`,
    csrApprover: `${openShiftPaths.secrets}/kubeconfig`,
  },
  // The controller-manager signs kubelets' certificates with it as well.
  kubeletClientAuthority: {
    certificate: `${openShiftPaths.secrets}/kubelet-signer.crt`,
    key: `${openShiftPaths.secrets}/kubelet-signer.key`,
  },
  // The bootstrap's, then that of the controller-manager's operator.
  kubeletServingAuthorities: [
    `${openShiftPaths.secrets}/kubelet-signer.crt`,
    '/etc/kubernetes/static-pod-resources/kube-controller-manager-certs/secrets/csr-signer/tls.crt',
  ],
};

/** How a live host reaches its control plane. */
export const bootstrapAccess = (kind: Cluster['controlPlane']): BootstrapAccess =>
  kind === 'kubernetes' ? kubernetes : openShift;

/**
 * How any host reaches a control plane of that kind.
 * @throws Failure (usage) for a kind that only live hosts support
 */
export function accessTo(kind: Cluster['controlPlane']): ControlPlaneAccess {
  if (kind === 'kubernetes') return kubernetes;
  throw new Failure('usage', `control planes of kind ${kind} are not supported`, {
    expected: 'kubernetes',
  });
}

/** Runs `use` with a client of etcd by the agents' own certificate, and closes it afterwards. */
export async function withEtcd<T>(
  kind: Cluster['controlPlane'],
  paths: HostPaths,
  use: (client: EtcdClient) => Promise<T>,
): Promise<T> {
  return etcdBy(bootstrapAccess(kind).etcd, paths, use);
}

/** The same by the API server's certificate, on hosts where the agents have none of their own. */
export async function withEtcdOfApiServer<T>(
  kind: Cluster['controlPlane'],
  paths: HostPaths,
  use: (client: EtcdClient) => Promise<T>,
): Promise<T> {
  const { etcd, gather } = accessTo(kind);
  return etcdBy({ ...gather.etcd, clientUrl: etcd.clientUrl }, paths, use);
}

async function etcdBy<T>(
  { clientUrl, ca, certificate, key }: BootstrapAccess['etcd'],
  paths: HostPaths,
  use: (client: EtcdClient) => Promise<T>,
): Promise<T> {
  using client = connectEtcd(paths.endpoints.etcd ?? clientUrl, {
    ca: await readFile(paths.at(ca)),
    cert: await readFile(paths.at(certificate)),
    key: await readFile(paths.at(key)),
  });
  return await use(client);
}

/** Runs `use` with a client of the API as the bootstrap's administrator, and closes it afterwards. */
export async function withBootstrapAdmin<T>(
  kind: Cluster['controlPlane'],
  paths: HostPaths,
  use: (client: KubeClient) => Promise<T>,
): Promise<T> {
  using client = await kubeClient(paths.at(bootstrapAccess(kind).kubeconfigs.bootstrapAdmin));
  return await use(client);
}
