import type { TopologyRow } from './rows.ts';

/** `status.defaultPlacement` of the Ingress config. */
export const defaultPlacementOf = ({
  ingress,
}: TopologyRow): TopologyRow['installer']['defaultPlacement'] =>
  ingress.pool === 'master' ? 'ControlPlane' : 'Workers';

/** A value that openshift-install chooses in another way. */
export interface InstallerChoice {
  readonly field: string;
  readonly expected: string | boolean;
  readonly installer: string | boolean;
}

/** Where openshift-install decides otherwise than the row. */
export function installerChoices(row: TopologyRow): InstallerChoice[] {
  const expected = { ...row, defaultPlacement: defaultPlacementOf(row) };
  return (['infrastructureTopology', 'mastersSchedulable', 'defaultPlacement'] as const)
    .filter((field) => expected[field] !== row.installer[field])
    .map((field) => ({ field, expected: expected[field], installer: row.installer[field] }));
}
