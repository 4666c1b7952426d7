import type { ClusterState } from './operators.ts';

/** How long an operator must not be progressing, as openshift-install has it (create.go). */
export const OPERATOR_STABLE_MS = 30_000;

/**
 * What keeps `openshift-install wait-for install-complete` waiting, or nothing: the version must be
 * Available, not Failing and not Progressing, and then every ClusterOperator must not have been
 * Progressing for 30 s. (After that it reads the ConfigMap
 * openshift-config-managed/default-ingress-cert, which the ingress operator writes.)
 */
export function whyNotInstalled(
  version: ClusterState | undefined,
  operators: readonly ClusterState[],
  now: Date,
): string[] {
  if (version === undefined) return ['the ClusterVersion does not exist'];
  const wanted = { Available: 'True', Failing: 'False', Progressing: 'False' } as const;
  const others = Object.entries(wanted).filter(
    ([type, status]) => conditionOf(version, type)?.status !== status,
  );
  const [type] = others[0] ?? [];
  const unstable = operators.filter((operator) => !isStable(operator, now));
  return [
    ...(type === undefined ? [] : [`the version ${describe(version, type)}`]),
    ...unstable.map((operator) => `${operator.metadata.name} ${describe(operator, 'Progressing')}`),
  ];
}

const conditionOf = ({ status }: ClusterState, type: string) =>
  status?.conditions?.find((condition) => condition.type === type);

function isStable(operator: ClusterState, now: Date): boolean {
  const progressing = conditionOf(operator, 'Progressing');
  if (progressing?.status !== 'False') return false;
  const since = Date.parse(progressing.lastTransitionTime ?? '');
  return now.getTime() - since > OPERATOR_STABLE_MS;
}

function describe(object: ClusterState, type: string): string {
  const condition = conditionOf(object, type);
  if (condition === undefined) return `has no condition ${type}`;
  const { status, message, reason } = condition;
  const why = message || reason;
  // Its wait is over by itself.
  if (type === 'Progressing' && status === 'False') return 'has just finished progressing';
  return `has ${type}=${status}${why ? `: ${why}` : ''}`;
}
