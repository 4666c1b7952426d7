import { writeGoYaml } from '../../base/go-yaml/write.ts';
import type { RuntimeKind } from '../../clients/cri/kind.ts';
import { hostDemands } from '../../payload/supported.ts';
import type { FileUse } from '../hosts.ts';
import { SHUTDOWN_SECONDS } from '../machine-config/shutdown.ts';
import type { HostFacts, RenderedFile, RenderInput } from '../renderer.ts';
import { clusterDnsIp } from './addresses.ts';
import type { Authorities } from './authorities.ts';
import { publicFile } from './files.ts';
import { componentKubeconfig } from './kubeconfigs.ts';
import { paths } from './paths.ts';

/** Files that the kubelet's units name. */
export const kubeletPaths = {
  /** Standalone: static pods only, no API. */
  liveConfig: `${paths.kubernetes}/kubelet-live.yaml`,
  installedConfig: `${paths.kubernetes}/kubelet.yaml`,
  kubeconfig: `${paths.kubelet}/kubeconfig`,
  /** Client certificate and key in one file, behind a symlink. */
  clientPair: paths.kubeletClientPair,
  servingPair: paths.kubeletServingPair,
} as const;

const folder = paths.pkiOf('kubelet');

/** Whom the kubelet trusts: files with authorities. */
export const kubeletTrust = {
  api: `${folder}/api-ca.crt`,
  /** Clients of the kubelet: the API server, and administrators that the API server authorizes. */
  clients: `${folder}/client-ca.crt`,
} as const;

/** What the configuration of a kubelet depends on. */
export interface KubeletInput {
  readonly cluster: Pick<RenderInput['cluster'], 'serviceNetwork' | 'reservedCpus'>;
  readonly host: Pick<
    HostFacts,
    | 'cgroupDriver'
    | 'cgroupVersion'
    | 'containerRuntime'
    | 'rootIsOverlay'
    | 'resolvConf'
    | 'versions'
  >;
}

const identity = {
  name: 'kubelet',
  certificate: kubeletPaths.clientPair,
  key: kubeletPaths.clientPair,
} as const;

export function kubeletFiles(input: RenderInput, authorities: Authorities): RenderedFile[] {
  const standalone: FileUse = 'standalone-kubelet';
  const node: FileUse = 'node';
  return [
    publicFile(kubeletTrust.clients, authorities.admin.certificate, { uses: [standalone, node] }),
    publicFile(kubeletTrust.api, authorities.serving.certificate, { uses: [node] }),
    standaloneConfigFile(input),
    nodeKubeletFile(input),
    componentKubeconfig(kubeletPaths.kubeconfig, identity, kubeletTrust.api, { uses: [node] }),
  ];
}

/** The configuration of a kubelet without an API server. */
export const standaloneConfigFile = (input: KubeletInput): RenderedFile =>
  publicFile(kubeletPaths.liveConfig, writeGoYaml(standaloneConfiguration(input)), {
    uses: ['standalone-kubelet'],
  });

/** The configuration of the kubelet that runs the control plane. */
export const nodeKubeletFile = (input: KubeletInput): RenderedFile =>
  publicFile(kubeletPaths.installedConfig, writeGoYaml(controlPlaneConfiguration(input)), {
    uses: ['node'],
  });

/**
 * The kubelet's files on a worker, which runs no static pods and reaches the API by the same address
 * as a control-plane host. `clients`: the authorities of those who may call the kubelet.
 */
export function workerKubeletFiles(input: KubeletInput, clients: string): RenderedFile[] {
  return [
    publicFile(kubeletTrust.clients, clients, { uses: ['node'] }),
    workerKubeletFile(input),
    componentKubeconfig(kubeletPaths.kubeconfig, identity, kubeletTrust.api, { uses: ['node'] }),
  ];
}

/** The configuration of the kubelet of a worker. */
export const workerKubeletFile = (input: KubeletInput): RenderedFile =>
  publicFile(kubeletPaths.installedConfig, writeGoYaml(nodeConfiguration(input)), {
    uses: ['node'],
  });

const RUNTIME_ENDPOINTS: Readonly<Record<RuntimeKind, string>> = {
  containerd: 'unix:///run/containerd/containerd.sock',
  'cri-o': 'unix:///run/crio/crio.sock',
};

/** The same before and after the reboot. */
function configuration({ host }: KubeletInput) {
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    containerRuntimeEndpoint: RUNTIME_ENDPOINTS[host.containerRuntime],
    cgroupDriver: host.cgroupDriver,
    readOnlyPort: 0,
    tlsMinVersion: 'VersionTLS12',
    // The operating system sets the host's sysctls.
    protectKernelDefaults: false,
    // Swap on the host is allowed; pods do not use it by default.
    failSwapOn: false,
    podPidsLimit: 4096,
    seccompDefault: true,
    // The default is under /usr, which is read-only.
    volumePluginDir: `${paths.kubernetes}/kubelet-plugins/volume/exec`,
    ...(host.rootIsOverlay ? { localStorageCapacityIsolation: false } : {}),
    ...cgroupV1(host),
    ...imagesThatAreThere(host),
  };
}

/**
 * Images of a payload were never pulled. While a pod with imagePullPolicy Always tries to pull one, the kubelet would
 * take it for pulled by itself; if its host loses its power then, it would do so for good: no other pod could use the image
 * without a registry.
 */
function imagesThatAreThere({ versions }: KubeletInput['host']) {
  return hostDemands(versions.kubernetes).verifiesPulls
    ? { imagePullCredentialsVerificationPolicy: 'NeverVerify' }
    : {};
}

/** Without it a newer kubelet does not start on cgroup v1, which it still can use. */
function cgroupV1({ cgroupVersion, versions }: KubeletInput['host']) {
  const isRefused = hostDemands(versions.kubernetes).cgroupV1 === 'on-request';
  return cgroupVersion === 1 && isRefused ? { failCgroupV1: false } : {};
}

/** Without an API server no client can be authenticated: the kubelet serves nothing. */
function standaloneConfiguration(input: KubeletInput) {
  return {
    ...configuration(input),
    staticPodPath: paths.staticPods,
    enableServer: false,
    // It builds an authenticator nevertheless, and refuses to start without a method.
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: false },
      x509: { clientCAFile: kubeletTrust.clients },
    },
    authorization: { mode: 'AlwaysAllow' },
    rotateCertificates: false,
    serverTLSBootstrap: false,
    // The live host keeps all images of the payload, however full its memory is.
    imageGCHighThresholdPercent: 100,
    imageGCLowThresholdPercent: 99,
  };
}

/** Containers of guaranteed pods that request whole CPUs get these alone, none of them reserved. */
function cpuReservation({ cluster: { reservedCpus } }: KubeletInput) {
  if (reservedCpus === undefined) return {};
  return { reservedSystemCPUs: reservedCpus, cpuManagerPolicy: 'static' };
}

const controlPlaneConfiguration = (input: KubeletInput) => ({
  ...nodeConfiguration(input),
  staticPodPath: paths.staticPods,
});

function nodeConfiguration(input: KubeletInput) {
  return {
    ...configuration(input),
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: kubeletTrust.clients },
    },
    authorization: { mode: 'Webhook' },
    rotateCertificates: true,
    serverTLSBootstrap: true,
    clusterDomain: 'cluster.local',
    clusterDNS: [clusterDnsIp(input.cluster)],
    // What pods with the host's name servers get, CoreDNS among them.
    resolvConf: input.host.resolvConf,
    imageGCHighThresholdPercent: 85,
    imageGCLowThresholdPercent: 80,
    // Workloads stop first; then etcd and the API server have 30 s to stop in order.
    shutdownGracePeriod: `${SHUTDOWN_SECONDS.all}s`,
    shutdownGracePeriodCriticalPods: `${SHUTDOWN_SECONDS.criticalPods}s`,
    ...cpuReservation(input),
  };
}
