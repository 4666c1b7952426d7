import { minutes, seconds } from './units.ts';

/** All agents. */
export const allAgentsSettings = {
  /**
   * Whether the agents approve certificate requests: of the kubelet for serving, and of workers in the list. If
   * not, [somebody else does](../support.md#who-approves-certificates).
   */
  approveCertificates: true,
  /**
   * Where the agents write their [metrics](../support.md#metrics-and-alerts). Another folder must be writable for
   * their units: `ReadWritePaths=` in a drop-in of sno-renew, sno-backup and sno-approve.
   */
  metricsFolder: '/var/lib/sno-agents/metrics',
  /** Pause between two attempts of a step, in all agents. */
  retryMs: seconds(2),
  /** Inspecting the target disk before anything is changed; the boot order of a finished one. */
  inspectDiskMs: minutes(2),
  /** All checks of the host; a name server may take a while to come up. */
  preflightMs: minutes(3),
  /** Minimum memory for the embedded control plane. */
  minMemoryMiB: 2048,
  /**
   * Minimum size of the target disk in GB (1e9 bytes), excluding the payload: the operating system, etcd, logs,
   * and some reserve.
   */
  minDiskGB: 8,
  /** Fetching, verifying and importing the payload, or pulling a release: a slow network or USB stick. */
  payloadMs: minutes(45),
  /** OpenShift runs a program of each operator; the Kubernetes payload takes a second. */
  renderMs: minutes(5),
  /** Until the kubelet answers its health endpoint; aiokube: also after a restart. */
  kubeletMs: minutes(3),
  /** Until etcd has elected itself leader and answers. */
  etcdMs: minutes(5),
  /** Until the API server is ready and the controller-manager and the scheduler run. */
  controlPlaneMs: minutes(10),
  /** Applying all manifests. */
  manifestsMs: minutes(20),
  /** Maximum number of concurrent requests to create objects. */
  manifestsConcurrency: 16,
  /** Creating the kubelet's certificate of the installed host. */
  kubeletIdentityMs: seconds(60),
  /** Writing the last marker of an agent. */
  finishMs: seconds(30),
  /** Until kube-proxy, CoreDNS and the provisioner of volumes run, as far as the payload has them. */
  addOnsMs: minutes(10),
  /** How long the API must answer without an error before the bootstrap is reported complete. */
  apiStableMs: seconds(5),
  /** Publishing that the bootstrap is complete. */
  bootstrapCompleteMs: minutes(3),
  /** The control plane to settle. */
  steadyStateMs: minutes(30),
  /** How long nothing of the control plane may change until it counts as settled. */
  settlingWindowMs: seconds(20),
  /** Deleting what the bootstrap left. */
  cleanMs: minutes(5),
  /** Verifying that nothing is left. */
  verifyCleanMs: minutes(10),
  /** Publishing in the cluster that the installation is complete. */
  completeMs: minutes(3),
  /** Removing the agents' own units. */
  retireMs: minutes(2),
} as const;
