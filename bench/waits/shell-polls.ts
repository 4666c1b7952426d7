/** A wait of the shell flow that is part of every installation, and the step that replaces it. */
export interface ShellPoll {
  /** `<agent> <step>` of ours. */
  readonly step: string;
  readonly until: string;
  /** How long the shell flow sleeps between two polls. */
  readonly everySeconds: number;
  /** Its place in openshift/installer (data/data/bootstrap) or openshift/cluster-bootstrap. */
  readonly source: string;
}

/**
 * Waits that delay the shell flow and have a counterpart here. Omitted, because they delay
 * nothing or have no counterpart: the 20 s of approve-csr.sh (no node requests a certificate
 * in the live stage), waits whose first poll succeeds (the bootstrap ConfigMap, the leases),
 * and the two 10 s waits of restart_kubelet (for operators that the Kubernetes payload lacks).
 */
export const shellPolls = [
  {
    step: 'bootkube etcd',
    until: 'etcd answers',
    everySeconds: 5,
    source: 'files/usr/local/bin/bootkube.sh.template, wait-for-etcd',
  },
  {
    step: 'bootkube control-plane',
    until: 'the API answers',
    everySeconds: 1,
    source: 'cluster-bootstrap pkg/start/bootstrap.go, /readyz',
  },
  {
    step: 'bootkube manifests',
    until: 'a new kind is served',
    everySeconds: 0.2,
    source: 'cluster-bootstrap vendor library-go pkg/assets/create/creater.go',
  },
  {
    step: 'bootkube stop-etcd',
    until: 'the etcd container has ended',
    everySeconds: 10,
    source: 'bootstrap-in-place/files/usr/local/bin/bootstrap-in-place.sh, stop-etcd',
  },
  {
    step: 'install-to-disk wait-for-bootkube',
    until: '.bootkube.done exists',
    everySeconds: 5,
    source: 'bootstrap-in-place/files/usr/local/bin/install-to-disk.sh.template',
  },
  {
    step: 'post-reboot api',
    until: 'the API answers',
    everySeconds: 5,
    source: 'bootstrap-in-place-post-reboot.sh, wait_for_api',
  },
  {
    step: 'post-reboot serving-certificate',
    until: 'a request is approved',
    everySeconds: 10,
    source: 'bootstrap-in-place-post-reboot.sh, approve_csr',
  },
  {
    step: 'post-reboot node-ready',
    until: 'the node is Ready',
    everySeconds: 10,
    source: 'bootstrap-in-place-post-reboot.sh, approve_csr',
  },
  {
    step: 'post-reboot steady-state',
    until: 'the control plane is in its steady state',
    everySeconds: 20,
    source: 'bootstrap-in-place-post-reboot.sh, wait_for_cvo',
  },
] as const satisfies readonly ShellPoll[];

export type PolledStep = (typeof shellPolls)[number]['step'];
