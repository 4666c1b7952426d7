/**
 * Every path on the host that the agents read or write, under one root so that a
 * test can use another. Paths follow the software that they belong to:
 * openshift-install (/opt/openshift), the kubelet (/etc/kubernetes), the agents.
 */
export type HostPaths = ReturnType<typeof hostPaths>;

/** Addresses of a host's services (not paths), where they differ from the defaults. */
export interface HostEndpoints {
  /** URL of etcd. */
  readonly etcd?: string;
  /** URL of etcd for its peers. */
  readonly etcdPeer?: string;
  /** URL of the kubelet. */
  readonly kubelet?: string;
  /** URL of the API. */
  readonly api?: string;
}

export function hostPaths(root = '/', endpoints: HostEndpoints = {}) {
  const at = (path: string) => (root === '/' ? path : `${root.replace(/\/$/, '')}${path}`);
  return {
    root,
    at,
    endpoints,
    /** The path as the host itself sees it. */
    onHost: (path: string) => (path.startsWith(at('/')) ? path.slice(at('').length) : path),
    /** Contents of a live ISO, mounted read-only. */
    medium: at('/run/media/iso/sno-agents'),
    /** Working folder of the bootstrap; other software reads master.ign and the markers here. */
    assets: at('/opt/openshift'),
    /** Key pairs delivered in the live Ignition. */
    assetsTls: at('/opt/openshift/tls'),
    /** Manifests to apply: the user's and the rendered ones. */
    assetsManifests: at('/opt/openshift/manifests'),
    masterIgnition: at('/opt/openshift/master.ign'),
    bootkubeDone: at('/opt/openshift/.bootkube.done'),
    installDone: at('/opt/openshift/.install-to-disk.done'),
    aiokubeDone: at('/opt/openshift/.aiokube.done'),
    staticPods: at('/etc/kubernetes/manifests'),
    kubernetes: at('/etc/kubernetes'),
    pki: at('/etc/kubernetes/pki'),
    kubelet: at('/var/lib/kubelet'),
    kubeletPki: at('/var/lib/kubelet/pki'),
    etcdData: at('/var/lib/etcd'),
    /** Configuration of the agents: cluster.json, settings.json, leftovers.json. */
    config: at('/etc/sno-agents'),
    /** State of the agents: journals, payload, executable. */
    state: at('/var/lib/sno-agents'),
    /** Record of the installation, written at its end. */
    record: at('/var/lib/sno-agents/record.json'),
    /** The executable, a link for each agent, and the payload's host binaries. */
    binaries: at('/var/lib/sno-agents/bin'),
    executable: at('/var/lib/sno-agents/bin/sno-agents'),
    /** The installed host's own copy of the payload. */
    payload: at('/var/lib/sno-agents/payload'),
    cniBinaries: at('/opt/cni/bin'),
    run: at('/run/sno-agents'),
    /** Exists while the agent that has just installed the payload and the certificates starts the kubelet. */
    kubeletPrepared: at('/run/sno-agents/kubelet-prepared'),
    /** Starts sno-renew (sno-renew.path). */
    renewalDue: at('/run/sno-agents/renewal-due'),
    /** Sockets of the container runtimes: containerd, CRI-O. */
    runtimeSockets: [at('/run/containerd/containerd.sock'), at('/run/crio/crio.sock')],
    serviceRecords: at('/var/log/openshift'),
  } as const;
}

/** While it exists, the kubelet does not start: a relocatable node waits for its site configuration. */
export const sealedPath = ({ config }: Pick<HostPaths, 'config'>): string => `${config}/sealed`;
