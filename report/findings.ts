import { describeError } from '../lib/base/errors/failure.ts';
import type { BundleView, Evidence, Finding, Rule } from './bundle-view.ts';
import { causeOf, citeSame, repeats } from './causes.ts';

/** A finding with the one that explains it, if any. */
export interface ExplainedFinding extends Finding {
  /** The rule of the cause. */
  readonly follows?: string;
  /** Its index in the list. */
  readonly cause?: number;
}

const SEVERITIES = ['failing', 'warning', 'note'] as const;
/** Per rule: more findings of the same kind explain nothing further. */
const MOST_FINDINGS = 8;
const MOST_EVIDENCE = 6;

/** All findings: unexplained failures first, then by severity and time. */
export function findAll(view: BundleView, rules: readonly Rule[]): ExplainedFinding[] {
  const order = rules.map(({ name }) => name);
  const found = rules.flatMap((rule) => apply(rule, view));
  const kept = found.filter(
    (finding) =>
      !found.some((other) => repeats(finding.rule, other.rule) && citeSame(finding, other)),
  );
  const explained = kept.map((finding) => ({ finding, cause: causeOf(finding, kept) }));
  const sorted = explained.toSorted(
    (a, b) =>
      SEVERITIES.indexOf(a.finding.severity) - SEVERITIES.indexOf(b.finding.severity) ||
      Number(a.cause !== undefined) - Number(b.cause !== undefined) ||
      (a.finding.sinceMs ?? Infinity) - (b.finding.sinceMs ?? Infinity) ||
      order.indexOf(a.finding.rule) - order.indexOf(b.finding.rule),
  );
  return sorted.map(({ finding, cause }) => {
    if (cause === undefined) return finding;
    const index = sorted.findIndex((one) => one.finding === cause);
    return { ...finding, follows: cause.rule, cause: index };
  });
}

/** All findings of one rule. */
export const findingsOf = (rule: Rule, view: BundleView): Finding[] =>
  rule.find(view).map((found) => ({ ...found, rule: rule.name, todo: found.todo ?? rule.todo }));

/** Rules read untrusted input: an error in one must not prevent the report. */
function apply(rule: Rule, view: BundleView): Finding[] {
  try {
    const found = findingsOf(rule, view);
    const shown = found
      .slice(0, MOST_FINDINGS)
      .map((finding) => ({ ...finding, evidence: distinct(finding.evidence) }));
    return found.length > MOST_FINDINGS ? [...shown, more(rule, found)] : shown;
  } catch (error) {
    return [
      {
        rule: rule.name,
        severity: 'note',
        title: `The rule ${rule.name} could not be applied: ${describeError(error)}`,
        evidence: [],
        todo: 'Read the files of the bundle.',
      },
    ];
  }
}

function more(rule: Rule, found: readonly Finding[]): Finding {
  const title = `${found.length - MOST_FINDINGS} more like these were found`;
  return { rule: rule.name, severity: 'note', title, evidence: [], todo: rule.todo };
}

const distinct = (all: readonly Evidence[]): Evidence[] =>
  all
    .filter((one, index) => index === all.findIndex((other) => isSame(one, other)))
    .slice(0, MOST_EVIDENCE);

const isSame = (a: Evidence, b: Evidence) => a.file === b.file && a.line === b.line;
