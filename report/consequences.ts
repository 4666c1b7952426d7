import type { ReportFinding } from './schema.ts';

/** An independent failure and everything that follows from it, directly or through others. */
export interface CauseWithConsequences {
  readonly cause: ReportFinding;
  readonly consequences: readonly ReportFinding[];
}

export function causesOf(findings: readonly ReportFinding[]): CauseWithConsequences[] {
  const byRoot = Map.groupBy(findings, (finding) => rootOf(finding, findings));
  return findings
    .filter(({ severity, cause }) => severity === 'failing' && cause === undefined)
    .map((cause) => ({
      cause,
      consequences: (byRoot.get(cause) ?? []).filter((finding) => finding !== cause),
    }));
}

/** Findings of a severity that nothing explains. */
export const unexplained = (
  findings: readonly ReportFinding[],
  severity: ReportFinding['severity'],
): ReportFinding[] =>
  findings.filter((finding) => finding.severity === severity && finding.cause === undefined);

/** Causes of causes end: causes.ts links a finding to those of a smaller rank only. */
function rootOf(finding: ReportFinding, findings: readonly ReportFinding[]): ReportFinding {
  const cause = finding.cause === undefined ? undefined : findings[finding.cause];
  return cause === undefined ? finding : rootOf(cause, findings);
}
