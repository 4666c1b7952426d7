import { type PlatformKind, ROWS, type TopologyRow } from './rows.ts';

/** How many control-plane nodes these rows are about. */
export const CONTROL_PLANE_NODES = 1;

/** What the row of a cluster depends on. Numbers are whole and not negative. */
export interface TopologyInputs {
  readonly platform: PlatformKind;
  /** Workers of the installation. */
  readonly compute: number;
  /** Workers that join the running cluster. */
  readonly laterWorkers: number;
}

/**
 * The platforms on which openshift-install accepts one control-plane node (openshift/installer,
 * pkg/asset/machines/master.go); `external` only with an installation disk. On the others it
 * refuses one, so that no row applies.
 */
export const PLATFORMS: ReadonlyMap<string, PlatformKind> = new Map<string, PlatformKind>([
  ['none', 'none'],
  ['aws', 'cloud'],
  ['azure', 'cloud'],
  ['external', 'cloud'],
  ['gcp', 'cloud'],
  ['ibmcloud', 'cloud'],
  ['powervs', 'cloud'],
]);

/** The row of a cluster with one control-plane node. */
export function rowFor(inputs: TopologyInputs): TopologyRow {
  const row = ROWS.find((row) => applies(row, inputs));
  if (row === undefined) throw new Error(`no row for ${JSON.stringify(inputs)}`);
  return row;
}

/** Workers that join a cluster with workers change nothing. */
function applies(row: TopologyRow, { platform, compute, laterWorkers }: TopologyInputs): boolean {
  if (row.platform !== platform || !includes(row.dayOneWorkers, compute)) return false;
  return compute > 0 || includes(row.dayTwoWorkers, laterWorkers);
}

/** `2`: exactly two; `2+`: two or more. */
function includes(range: TopologyRow['dayOneWorkers' | 'dayTwoWorkers'], count: number): boolean {
  const least = Number.parseInt(range, 10);
  return range.endsWith('+') ? count >= least : count === least;
}
