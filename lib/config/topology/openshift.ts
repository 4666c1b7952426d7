import { defaultPlacementOf } from './installer.ts';
import { ROLES, roleLabel, roleToleration } from './roles.ts';
import type { TopologyRow } from './rows.ts';
import type { TopologyObject } from './topology-object.ts';

/** An object that a row determines, at least in part. */
export interface TopologyManifest {
  /** In the assets of openshift-install: where it writes this object, or where it is added. */
  readonly file: string;
  /** `object` has only the fields that the topology determines: not to be applied as it is. */
  readonly isPartial: boolean;
  /** The decisive values, in words. */
  readonly says: string;
  readonly why: string;
  readonly object: TopologyObject;
}

/** What a row means on OpenShift, in the order of the assets. */
export function topologyManifests(row: TopologyRow): TopologyManifest[] {
  return [
    infrastructure(row),
    ingressConfig(row),
    scheduler(row),
    ...(row.ingress.pool === 'master' ? [ingressController(row)] : []),
    ...(row.machineApproval === 'off' ? machineApprovalOff() : []),
  ];
}

/** The status, since nothing in the spec determines it. The CRD's default is HighlyAvailable. */
function infrastructure(row: TopologyRow): TopologyManifest {
  const { controlPlaneTopology, infrastructureTopology } = row;
  return {
    file: 'manifests/cluster-infrastructure-02-config.yml',
    isPartial: true,
    says: `controlPlaneTopology ${controlPlaneTopology}, infrastructureTopology ${infrastructureTopology}`,
    why: 'Operators derive their replicas from it. Without it, they expect three control-plane nodes.',
    object: {
      apiVersion: 'config.openshift.io/v1',
      kind: 'Infrastructure',
      metadata: { name: 'cluster' },
      status: { controlPlaneTopology, infrastructureTopology },
    },
  };
}

function ingressConfig(row: TopologyRow): TopologyManifest {
  const defaultPlacement = defaultPlacementOf(row);
  return {
    file: 'manifests/cluster-ingress-02-config.yml',
    isPartial: true,
    says: `defaultPlacement ${defaultPlacement}`,
    why: `Every IngressController without a placement of its own runs on nodes of the pool ${row.ingress.pool}.`,
    object: {
      apiVersion: 'config.openshift.io/v1',
      kind: 'Ingress',
      metadata: { name: 'cluster' },
      status: { defaultPlacement },
    },
  };
}

/**
 * The machine config operator gives a schedulable control-plane node the role worker too, and
 * takes its taint away (openshift/machine-config-operator, pkg/controller/node/node_controller.go).
 */
function scheduler({ mastersSchedulable }: TopologyRow): TopologyManifest {
  return {
    file: 'manifests/cluster-scheduler-02-config.yml',
    isPartial: false,
    says: `mastersSchedulable ${mastersSchedulable}`,
    why: mastersSchedulable
      ? 'The control-plane node loses its taint and gets the role worker as well.'
      : `The control-plane node keeps the taint ${ROLES.master}:NoSchedule.`,
    object: {
      apiVersion: 'config.openshift.io/v1',
      kind: 'Scheduler',
      metadata: { name: 'cluster' },
      spec: { mastersSchedulable },
    },
  };
}

/**
 * The ingress operator derives selector and replicas from the placement, but no toleration
 * (openshift/cluster-ingress-operator, pkg/operator/controller/ingress/deployment.go). A given
 * selector replaces the default one, so it is complete. The operator keeps an existing object.
 */
function ingressController({ ingress }: TopologyRow): TopologyManifest {
  const { replicas, toleratesControlPlane } = ingress;
  return {
    file: 'manifests/cluster-ingress-default-ingresscontroller.yaml',
    isPartial: false,
    says: `replicas ${replicas}, on nodes with the role master${toleratesControlPlane ? ', tolerating its taint' : ''}`,
    why: 'DNS points to the control-plane node. Neither workers nor a taint that comes later move the ingress controller away.',
    object: {
      apiVersion: 'operator.openshift.io/v1',
      kind: 'IngressController',
      metadata: { name: 'default', namespace: 'openshift-ingress-operator' },
      spec: {
        replicas,
        nodePlacement: {
          nodeSelector: {
            matchLabels: { 'kubernetes.io/os': 'linux', ...roleLabel(ROLES.master) },
          },
          ...(toleratesControlPlane ? { tolerations: [roleToleration(ROLES.master)] } : {}),
        },
      },
    },
  };
}

const APPROVER = 'openshift-cluster-machine-approver';

/**
 * openshift/cluster-machine-approver, README.md and pkg/controller/csr_check.go. Serving
 * certificates are still renewed.
 */
export function machineApprovalOff(): TopologyManifest[] {
  const why =
    'There are no Machines on platform none. If somebody creates one, it must not be enough for a node to get its first certificate.';
  return [
    {
      file: 'openshift/99_machine-approver-namespace.yaml',
      isPartial: false,
      says: 'exists',
      why: 'It is created before the operator, so that the ConfigMap has a place.',
      object: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: APPROVER } },
    },
    {
      file: 'openshift/99_machine-approver-config.yaml',
      isPartial: false,
      says: 'nodeClientCert disabled',
      why,
      object: {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'machine-approver-config', namespace: APPROVER },
        data: { 'config.yaml': 'nodeClientCert:\n  disabled: true\n' },
      },
    },
  ];
}
