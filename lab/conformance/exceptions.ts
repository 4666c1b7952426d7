/** A conformance test that a cluster of one node, a site without a registry or the lab's images cannot pass. */
export interface Exception {
  /** Full name, as Kubernetes 1.37 lists it. */
  readonly test: string;
  /** As in docs/conformance.md. */
  readonly reason: string;
}

export const exceptions: readonly Exception[] = [
  {
    test: '[sig-architecture] Conformance Tests should have at least two untainted nodes [Conformance]',
    reason: 'The test counts the nodes.',
  },
  {
    test: '[sig-apps] Daemon set should rollback without unnecessary restarts [Conformance] [Serial]',
    reason:
      'The test requires two nodes: it looks at a rollback that has begun on one of them only.',
  },
  {
    test: '[sig-node] ImageVolume should succeed with pod and pull policy of Always [LinuxOnly] [MinimumKubeletVersion:1.35] [Conformance]',
    reason: 'The test pulls an image again, and the site has no registry.',
  },
  {
    test: '[sig-node] Kubelet when scheduling a read only busybox container should not write to root filesystem [LinuxOnly] [Conformance] [NodeConformance]',
    reason:
      "The file system is read-only, and the test compares how BusyBox's shell words it. The shell of this image is bash, which other tests need.",
  },
  {
    test: '[sig-auth] Projected PodCertificate [FeatureGate:PodCertificateRequest] [FeatureGate:ClusterTrustBundle] [FeatureGate:ClusterTrustBundleProjection] should allow server and client pods to establish an mTLS connection [MinimumKubeletVersion:1.37] [Conformance]',
    reason: 'The test pulls its images again, and the site has no registry.',
  },
];
