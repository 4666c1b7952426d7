/** A conformance test that a cluster of one node or a site without the internet cannot pass. */
export interface Exception {
  /** Full name, as Kubernetes lists it. */
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
    test: '[sig-apps] Daemon set [Serial] should rollback without unnecessary restarts [Conformance]',
    reason:
      'The test requires two nodes: it looks at a rollback that has begun on one of them only.',
  },
];
