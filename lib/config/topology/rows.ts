import { z } from 'zod';

export const TOPOLOGY_MODES = ['SingleReplica', 'HighlyAvailable'] as const;
/** `platform.none`, or one whose API gives the cluster load balancers and machines. */
export const PLATFORM_KINDS = ['none', 'cloud'] as const;
export type PlatformKind = (typeof PLATFORM_KINDS)[number];

/** What openshift-install writes by itself since 4.8, the default placement since 4.11. */
const installerSchema = z.object({
  infrastructureTopology: z.enum(TOPOLOGY_MODES),
  mastersSchedulable: z.boolean(),
  /** `status.defaultPlacement` of the Ingress config. */
  defaultPlacement: z.enum(['ControlPlane', 'Workers']),
});

/** One row of the table of topologies. */
export const rowSchema = z.object({
  scenario: z.enum([
    'no workers',
    'one day-1 worker',
    'several day-1 workers',
    'day-2 workers only',
  ]),
  platform: z.enum(PLATFORM_KINDS),
  dayOneWorkers: z.enum(['0', '1', '2+']).describe('workers of the installation'),
  dayTwoWorkers: z
    .enum(['0', '1', '1+', '2+'])
    .describe('workers of the running cluster; those of the installation count'),
  controlPlaneTopology: z.literal('SingleReplica'),
  infrastructureTopology: z.enum(TOPOLOGY_MODES),
  mastersSchedulable: z
    .boolean()
    .describe('whether workloads run on the control-plane node; if not, it has a taint'),
  ingress: z.object({
    pool: z.enum(['master', 'worker']),
    replicas: z.union([z.literal(1), z.literal(2)]),
    toleratesControlPlane: z.boolean().describe("tolerates the control-plane node's taint"),
  }),
  machineApproval: z
    .enum(['off', 'by-machine'])
    .describe('whether a Machine is enough for a new node to get its first certificate'),
  why: z.string(),
  installer: installerSchema,
});
export type TopologyRow = z.infer<typeof rowSchema>;

/** Pinned to the one node that DNS points to. */
const onMaster = { pool: 'master', replicas: 1, toleratesControlPlane: true } as const;
/** Behind the load balancer of the platform. */
const onWorkers = { pool: 'worker', replicas: 2, toleratesControlPlane: false } as const;

/** What is the same in every row of a platform. */
const PLATFORM = {
  none: { platform: 'none', ingress: onMaster, machineApproval: 'off' },
  cloud: { platform: 'cloud', ingress: onMaster, machineApproval: 'by-machine' },
} as const;

type Decided = Pick<TopologyRow, 'infrastructureTopology' | 'mastersSchedulable' | 'ingress'>;

/** Of a scenario, by the workers of both days, on a platform. `decided`: otherwise than for a cluster without workers. */
const row = (
  scenario: TopologyRow['scenario'],
  [dayOneWorkers, dayTwoWorkers]: [TopologyRow['dayOneWorkers'], TopologyRow['dayTwoWorkers']],
  platform: PlatformKind,
  decided: Partial<Decided>,
  why: string,
): TopologyRow => ({
  ...{ scenario, dayOneWorkers, dayTwoWorkers, why },
  controlPlaneTopology: 'SingleReplica',
  ...{ infrastructureTopology: 'SingleReplica', mastersSchedulable: true },
  ...PLATFORM[platform],
  ...decided,
  installer: {
    infrastructureTopology: dayOneWorkers === '2+' ? 'HighlyAvailable' : 'SingleReplica',
    mastersSchedulable: dayOneWorkers === '0',
    defaultPlacement: platform === 'none' ? 'ControlPlane' : 'Workers',
  },
});

const tainted = { mastersSchedulable: false } as const;
const highlyAvailable = { infrastructureTopology: 'HighlyAvailable', ingress: onWorkers } as const;

/**
 * The topologies of a cluster with one control-plane node. They are fixed during the installation:
 * nothing changes them later, so they depend on the workers of the installation and not on those
 * that join afterwards.
 *
 * The values are those that the draft "single-node-openshift-day2-workers" proposes
 * (openshift/enhancements 996, columns PIT and PTP). OpenShift took another way in
 * "single-node-openshift-with-workers": the topology only counts workers (openshift/installer,
 * pkg/asset/manifests/topologies.go and scheduler.go), and since 4.11 the placement of the ingress
 * controller is a field of its own (ingress.go). `installer` has those values. Both agree about
 * every installation without workers on platform none.
 */
export const ROWS: readonly TopologyRow[] = [
  row(
    'no workers',
    ['0', '0'],
    'none',
    {},
    'There is one node, and DNS points to it. A second replica would stay pending.',
  ),
  row(
    'no workers',
    ['0', '0'],
    'cloud',
    {},
    'There is one node. A second replica would stay pending.',
  ),
  row(
    'one day-1 worker',
    ['1', '1'],
    'none',
    tainted,
    'No load balancer follows the ingress controller: it must stay on the node that DNS points to, which is tainted because there is a worker.',
  ),
  row(
    'one day-1 worker',
    ['1', '1'],
    'cloud',
    highlyAvailable,
    'A load balancer reaches both nodes. The control-plane node is schedulable, because two replicas need two nodes.',
  ),
  row(
    'several day-1 workers',
    ['2+', '2+'],
    'none',
    tainted,
    'No load balancer distributes requests to several workers: the ingress controller must stay on the node that DNS points to, which is tainted because there are workers.',
  ),
  row(
    'several day-1 workers',
    ['2+', '2+'],
    'cloud',
    { ...highlyAvailable, ...tainted },
    'A load balancer reaches all workers: infrastructure services run on two of them.',
  ),
  row(
    'day-2 workers only',
    ['0', '1+'],
    'none',
    {},
    'Workers that join later must not attract the ingress controller: DNS points to the first node.',
  ),
  row(
    'day-2 workers only',
    ['0', '1+'],
    'cloud',
    {},
    'The topology was fixed when there was one node. It does not change when workers join.',
  ),
];
