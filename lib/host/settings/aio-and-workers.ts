import { minutes } from './units.ts';

/** All-in-one hosts and workers. */
export const aioAndWorkerSettings = {
  /** aiokube: verifying the payload again, then until the kubelet answers its health endpoint. */
  nodeKubeletMs: minutes(15),
  /** aiokube, post-reboot: the kubelet to register its Node. */
  nodeRoleMs: minutes(5),
  /** All-in-one: bringing the backup of a lost host, from the Ignition config, into the backups. */
  continueLostMs: minutes(10),
  /** worker: until the control-plane host has approved its first certificate. */
  workerApprovalMs: minutes(24 * 60),
  /** worker: until its Node has subnets for pods. */
  podNetworkMs: minutes(15),
  /** sno-worker-trust: reading and verifying the CAs of the API server that the cluster publishes; confirming them. */
  workerTrustMs: minutes(2),
} as const;
