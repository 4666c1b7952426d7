import { tableLines } from '../../lib/base/table.ts';
import type { TopologyReport } from '../../lib/config/topology/report.ts';
import { PLATFORMS } from '../../lib/config/topology/row-for.ts';
import { plural } from '../../report/reading/words.ts';

type ReportRow = TopologyReport['rows'][number];

/** The report for people: the table, then what follows from the row that is marked with ">". */
export function topologyText(report: TopologyReport): string {
  const row = report.rows.find(({ applies }) => applies);
  return [
    ...table(report.rows),
    '',
    `One control-plane node; its topology is ${report.rows[0]?.controlPlaneTopology} in every row. DAY 1: workers of the installation. DAY 2: workers of the running cluster.`,
    `Cloud: ${platformsOf('cloud')}.`,
    ...(row === undefined
      ? ['For the row of a cluster, use --config, --from-ignition or --compute and --platform.']
      : explanation(report, row.why)),
  ].join('\n');
}

const HEAD = [
  '',
  'SCENARIO',
  'PLATFORM',
  'DAY 1',
  'DAY 2',
  'INFRASTRUCTURE',
  'WORKLOADS',
  'INGRESS',
];

const table = (rows: readonly ReportRow[]): string[] => tableLines([HEAD, ...rows.map(cellsOf)]);

function cellsOf(row: ReportRow): string[] {
  const { replicas, pool } = row.ingress;
  return [
    row.applies ? '>' : ' ',
    row.scenario,
    row.platform,
    row.dayOneWorkers,
    row.dayTwoWorkers,
    row.infrastructureTopology,
    row.mastersSchedulable ? 'on all nodes' : 'on workers',
    `${replicas} on ${pool}`,
  ];
}

const platformsOf = (kind: string): string =>
  [...PLATFORMS].flatMap(([name, of]) => (of === kind ? [name] : [])).join(', ');

function explanation({ inputs, kubernetes, openshift, differences }: TopologyReport, why: string) {
  if (inputs === undefined) return [];
  const { compute, laterWorkers, platform } = inputs;
  const workers = `${plural(compute, 'worker')}${laterWorkers > 0 ? `, ${laterWorkers} later` : ''}`;
  return [
    '',
    `> applies: 1 control-plane node, ${workers}, platform ${platform}`,
    `  ${why}`,
    ...(kubernetes === undefined ? [] : onKubernetes(kubernetes)),
    ...(openshift === undefined ? [] : onOpenshift(openshift)),
    ...(differences === undefined ? [] : differencesText(differences)),
  ];
}

function onKubernetes({ node, ingress }: NonNullable<TopologyReport['kubernetes']>): string[] {
  const keyed = (labels: Readonly<Record<string, string>>) =>
    Object.entries(labels).map(([name, value]) => (value === '' ? name : `${name}=${value}`));
  const orNone = (texts: readonly string[]) => (texts.length === 0 ? 'none' : texts.join(', '));
  return [
    '',
    'On Kubernetes:',
    `  labels of the control-plane node: ${orNone(keyed(node.labels))}`,
    `  its taints: ${orNone(node.taints.map(({ key, effect }) => `${key}:${effect}`))}`,
    `  an ingress controller: ${plural(ingress.replicas, 'replica')}, node selector ${orNone(keyed(ingress.nodeSelector))}, tolerations ${orNone(ingress.tolerations.map(({ key, effect }) => `${key}:${effect}`))}`,
    '  (the payload has none: these are the values for the one that you install)',
  ];
}

type OnOpenshift = NonNullable<TopologyReport['openshift']>;

function onOpenshift({ release, manifests, installer }: OnOpenshift): string[] {
  return [
    '',
    `On OpenShift ${release}:`,
    ...manifests.flatMap(({ file, object, says, why }) => [
      `  ${object.kind}: ${says} (${file})`,
      `    ${why}`,
    ]),
    '',
    installerText(installer),
  ];
}

/** Where openshift-install would decide otherwise. */
function installerText(choices: OnOpenshift['installer']): string {
  if (choices.length === 0) return 'openshift-install decides the same.';
  const others = choices.map(({ field, installer }) => `${field} ${installer}`);
  return `openshift-install decides otherwise: ${others.join(', ')}.`;
}

function differencesText(differences: NonNullable<TopologyReport['differences']>): string[] {
  if (differences.length === 0) return ['The manifests have all of this.'];
  return [
    'The manifests lack, or have otherwise:',
    ...differences.map(({ file, object, field, expected, found }) =>
      field === undefined
        ? `  ${object}: does not exist (${file})`
        : `  ${object}: ${field} is ${valueText(found)}, expected ${valueText(expected)} (${file})`,
    ),
  ];
}

const valueText = (value: unknown): string =>
  value === undefined ? 'absent' : typeof value === 'string' ? value : JSON.stringify(value);
