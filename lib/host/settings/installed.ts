import { minutes } from './units.ts';

/** The installed host: sno-restore, post-reboot, sno-deferred. */
export const installedSettings = {
  /** sno-restore, aiokube: until the address is configured after the boot. */
  identityMs: minutes(5),
  /** sno-restore: restoring the database from the snapshot with etcdutl. */
  restoreMs: minutes(10),
  /** post-reboot: the API after a cold start. */
  apiMs: minutes(15),
  /** The kubelet's serving certificate to be issued. */
  servingCertificateMs: minutes(15),
  /** The node to become Ready. */
  nodeReadyMs: minutes(15),
  /** OpenShift: the API to be ready, then the node to be Ready; each has to pull its images first. */
  startWithPullsMs: minutes(45),
  /** post-reboot on OpenShift: one request to the API, which may restart. */
  overridesMs: minutes(10),
  /** post-reboot on OpenShift: a restart of the kubelet after its unit has changed. */
  reloadKubeletMs: minutes(4),
  /** post-reboot on OpenShift: until each operator has installed its first revision, with its images. */
  takeOverMs: minutes(60),
  /** OpenShift: deleting static pods that no operator has replaced in place. */
  handOverMs: minutes(5),
  /** post-reboot on OpenShift: until the version and all operators are settled. */
  installCompleteMs: minutes(90),
  /** sno-deferred: how long a manifest may wait for its kind after the installation (wall clock). */
  deferredExpiryHours: 168,
} as const;
