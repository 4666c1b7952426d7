import { defaultPlacementOf } from '../lib/config/topology/installer.ts';
import { controlPlaneNode, ingressPlacement } from '../lib/config/topology/kubernetes.ts';
import { topologyManifests } from '../lib/config/topology/openshift.ts';
import { FIRST_RELEASE, LATEST_RELEASE } from '../lib/config/topology/release.ts';
import { ROWS, type TopologyRow } from '../lib/config/topology/rows.ts';
import { row, table } from './markdown-table.ts';

/** The table of topologies, and what its rows mean on OpenShift and on Kubernetes, as Markdown. */
export function topologyReference(): string {
  return `# Topologies of one control-plane node

Generated from the code by \`docs/generate.ts\`; do not edit. \`sno explain topology\` prints the row of a cluster; for a
guide, see [Preparing an installation](../operator.md#topology). For programs: [JSON Schema](schemas/topology.schema.json) of its
\`--json\`.

## The table

Day-1 workers belong to the installation; day-2 workers are those of the running cluster. \`controlPlaneTopology\` is
\`SingleReplica\` in every row. "Tainted" means \`mastersSchedulable: false\`: workloads run on workers only.

${table(
  [
    'Scenario',
    'Platform',
    'Day-1 workers',
    'Day-2 workers',
    'infrastructureTopology',
    'Control-plane node',
    'Default ingress controller',
    'Why',
  ],
  ROWS.map((each) => row(cellsOf(each))),
)}

What openshift-install decides by itself; values in bold differ from the table above:

${table(
  ['Scenario', 'Platform', 'infrastructureTopology', 'mastersSchedulable', 'defaultPlacement'],
  ROWS.map((each) => row(installerCells(each))),
)}

## On OpenShift

The objects of the first row, from ${FIRST_RELEASE} to ${LATEST_RELEASE}. Other rows differ in the values of the table. A file is where openshift-install
writes the object, or where it is added. \`sno explain topology --manifests\` prints them.

${table(
  ['Object', 'File', 'Decides', 'Why'],
  ROWS.slice(0, 1).flatMap((first) =>
    topologyManifests(first).map(({ object, file, says, why }) =>
      row([object.kind, `\`${file}\``, says, why]),
    ),
  ),
)}

## On Kubernetes

The payload has no ingress controller: the placement is for the one that you install.

${table(
  ['Scenario', 'Platform', 'Taint of the control-plane node', 'Ingress: replicas', 'Node selector'],
  ROWS.map((each) => row(kubernetesCells(each))),
)}
`;
}

const placeOf = ({ scenario, platform }: TopologyRow) => [scenario, platform];

function cellsOf(row: TopologyRow): string[] {
  const { replicas, pool, toleratesControlPlane } = row.ingress;
  return [
    ...placeOf(row),
    row.dayOneWorkers,
    row.dayTwoWorkers,
    row.infrastructureTopology,
    row.mastersSchedulable ? 'schedulable' : 'tainted',
    `${replicas} on ${pool}${toleratesControlPlane ? ', with the toleration' : ''}`,
    row.why,
  ];
}

function installerCells(row: TopologyRow): string[] {
  const { infrastructureTopology, mastersSchedulable, defaultPlacement } = row.installer;
  const mark = (text: string, isSame: boolean) => (isSame ? text : `**${text}**`);
  return [
    ...placeOf(row),
    mark(infrastructureTopology, infrastructureTopology === row.infrastructureTopology),
    mark(`${mastersSchedulable}`, mastersSchedulable === row.mastersSchedulable),
    mark(defaultPlacement, defaultPlacement === defaultPlacementOf(row)),
  ];
}

function kubernetesCells(row: TopologyRow): string[] {
  const { replicas, nodeSelector } = ingressPlacement(row);
  const taints = controlPlaneNode(row).taints.map(({ key, effect }) => `\`${key}:${effect}\``);
  return [
    ...placeOf(row),
    taints.join(', ') || 'none',
    `${replicas}`,
    Object.keys(nodeSelector)
      .map((label) => `\`${label}\``)
      .join(', '),
  ];
}
