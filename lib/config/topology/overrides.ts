import { appliesIn, type Validity } from '../../base/minor.ts';
import type { Release } from './release.ts';
import type { TopologyObject } from './topology-object.ts';

/**
 * An operator that refuses a single node unless told otherwise. Each names the first and the last
 * minor release that needs it: from 4.8 on, operators read the topology instead.
 */
export interface Override extends Required<Validity> {
  readonly operator: string;
  readonly why: string;
  /** Where the operator's behaviour was read. */
  readonly source: string;
  readonly remedy:
    | { readonly file: string; readonly object: TopologyObject }
    /** Nothing that a manifest could do. */
    | { readonly byHand: string };
}

export const OVERRIDES: readonly Override[] = [
  {
    since: '4.4',
    until: '4.7',
    operator: 'cluster-etcd-operator',
    why: 'It starts no member of etcd before there are three control-plane nodes.',
    source: 'openshift/cluster-etcd-operator 9a1410b9c (the override), 527 (the topology)',
    remedy: {
      file: 'openshift/99_etcd-single-node.yaml',
      object: {
        apiVersion: 'operator.openshift.io/v1',
        kind: 'Etcd',
        metadata: { name: 'cluster' },
        spec: {
          managementState: 'Managed',
          unsupportedConfigOverrides: { useUnsupportedUnsafeNonHANonProductionUnstableEtcd: true },
        },
      },
    },
  },
  {
    since: '4.6',
    until: '4.7',
    operator: 'cluster-authentication-operator',
    why: 'It is not available before there are three API servers.',
    source:
      'openshift/cluster-authentication-operator 391, pkg/controllers/readiness/unsupported_override.go',
    remedy: {
      file: 'openshift/99_authentication-single-node.yaml',
      object: {
        apiVersion: 'operator.openshift.io/v1',
        kind: 'Authentication',
        metadata: { name: 'cluster' },
        spec: {
          managementState: 'Managed',
          unsupportedConfigOverrides: {
            useUnsupportedUnsafeNonHANonProductionUnstableOAuthServer: true,
          },
        },
      },
    },
  },
  {
    since: '4.4',
    until: '4.7',
    operator: 'cluster-version-operator',
    why: 'It keeps the Deployment etcd-quorum-guard at three replicas, of which two stay pending.',
    source: 'openshift/machine-config-operator 1695',
    remedy: {
      byHand:
        'on the running cluster, set the Deployment etcd-quorum-guard to unmanaged in the overrides of ClusterVersion version, and scale it to 1',
    },
  },
];

export const overridesFor = (release: Release): readonly Override[] =>
  OVERRIDES.filter((override) => appliesIn(release, override));
