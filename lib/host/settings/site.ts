import { minutes, seconds } from './units.ts';

/** Sites: reconfigure. */
export const siteSettings = {
  /** reconfigure prepare: each change that makes a node relocatable. */
  relocatableMs: minutes(3),
  /** reconfigure validate: until nothing changes any more, and everything is judged. */
  validateMs: minutes(15),
  /** reconfigure validate, OpenShift: the same, where its operators settle slowly. */
  validateOperatorsMs: minutes(45),
  /** reconfigure validate: each thing that the cluster is asked to do, such as starting a pod. */
  validateProbeMs: minutes(2),
  /** reconfigure validate: for how long nothing may change. */
  validateWindowMs: minutes(1),
  /** reconfigure validate, OpenShift: the same; operators report late what they begin. */
  validateOperatorsWindowMs: minutes(5),
  /** reconfigure: until the adapters that the site expects are there, and no backup is running. */
  reconfigureCheckMs: minutes(3),
  /** reconfigure: until the kubelet and all pods have stopped, and etcd's database is copied. */
  reconfigureStopMs: minutes(5),
  /** reconfigure: the network of the site, and the answers of its servers. */
  reconfigureNetworkMs: minutes(5),
  /** reconfigure: how long the servers of the site may take to answer: a switch learns, a lease is awaited. */
  reconfigureAnswersMs: seconds(90),
  /** reconfigure: until time servers have set the clock. */
  reconfigureClockMs: minutes(3),
  /** reconfigure: files and objects of the site. */
  reconfigureFilesMs: minutes(5),
  /** reconfigure, OpenShift: the network of the site, with the bridge of the pod network made again. */
  reconfigureBridgeMs: minutes(12),
  /** reconfigure, OpenShift: until the API is ready; expired certificates are made anew in it. */
  reconfigureOperatorsStartMs: minutes(25),
  /** reconfigure, OpenShift: until its API gives Routes hosts at the site, and they have moved. */
  reconfigureRoutesMs: minutes(15),
  /** reconfigure, OpenShift: until its operators are settled, also after a restart that they cost. */
  reconfigureOperatorsMs: minutes(45),
  /** reconfigure, OpenShift: how long nothing may change; operators report late what they begin. */
  reconfigureOperatorsWindowMs: minutes(5),
  /** reconfigure: the control plane with the identity of the site. */
  reconfigureStartMs: minutes(15),
  /** reconfigure: until nothing changes. */
  reconfigureSettleMs: minutes(15),
  /** reconfigure: how long nothing may change before the site is kept. */
  reconfigureWindowMs: seconds(30),
  /** reconfigure: how long the site may stay unconfirmed, also after a restart; after that the node goes back. */
  reconfigureTrialMs: minutes(20),
  /**
   * reconfigure, OpenShift: the same, where all steps together take so long: rollouts, and perhaps a restart of
   * the host.
   */
  reconfigureOperatorsTrialMs: minutes(135),
  /** reconfigure: most restarts of the host with an unconfirmed site; a whole number. */
  reconfigureBootsCount: 3,
  /** reconfigure: for how long what was before is kept for "reconfigure rollback". */
  reconfigureReturnHours: 168,
} as const;
