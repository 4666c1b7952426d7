import { describeError } from '../lib/base/errors/failure.ts';
import { productVersion } from '../lib/base/version.ts';
import type { BundleView, Evidence, Finding } from './bundle-view.ts';
import { type ExplainedFinding, findAll } from './findings.ts';
import { firstErrors } from './first-errors.ts';
import { hostFacts } from './host-facts.ts';
import { around } from './reading/evidence.ts';
import { plural, shorten } from './reading/words.ts';
import { rules } from './rules.ts';
import type { ReportDocument, ReportFinding, TimelineStep } from './schema.ts';
import { stateOf } from './state.ts';
import type { ReportedRun } from './timeline/run.ts';
import { timelineOf } from './timeline/timeline.ts';

/** Most characters of any text; file names of a bundle are shorter. */
const MOST_TEXT = 2600;
const MOST_TITLE = 500;
const MOST_TODO = 1200;
/** In the verdict, which fits the first screen of a phone: causes, and characters of each. */
const MOST_NAMED = 12;
const MOST_NAME = 160;
const MOST_ERRORS = 200;

/** The contents of the report as data. */
export function buildReport(
  view: BundleView,
  { isInterrupted, isEncrypted }: { isInterrupted: boolean; isEncrypted?: boolean | undefined },
): ReportDocument {
  const parts = new Parts();
  const timeline = parts.make('timeline', () => timelineOf(view), {
    runs: [],
    reboots: [],
    ahead: [],
  });
  const errors = parts.make('first errors', () => firstErrors(view), []);
  const host = parts.make('facts of the host', () => hostFacts(view), []);
  const state = parts.make('state', () => stateOf(view), '');
  const findings = [...findAll(view, rules), ...parts.failures].map((finding) =>
    findingOf(finding, view),
  );
  return presentable({
    schemaVersion: 1,
    version: productVersion,
    made: iso(view.atMs),
    interrupted: isInterrupted,
    ...(isEncrypted === undefined ? {} : { encrypted: isEncrypted }),
    verdict: verdictOf(view, findings),
    state,
    findings,
    timeline: {
      steps: timeline.runs.map(stepOf),
      reboots: timeline.reboots.map(({ fromMs, toMs }) => ({ from: iso(fromMs), to: iso(toMs) })),
      ahead: [...timeline.ahead],
    },
    firstErrors: errors.slice(0, MOST_ERRORS).map(({ unit, atMs, text, evidence }) => ({
      unit,
      at: iso(atMs),
      text,
      evidence: copy(evidence),
    })),
    notCollected: (view.failures ?? []).map(({ path, reason }) => ({ path, reason })),
    host,
  });
}

/** Each part reads untrusted input: an error in one must not affect the others. */
class Parts {
  readonly failures: Finding[] = [];

  make<T>(what: string, part: () => T, otherwise: T): T {
    try {
      return part();
    } catch (error) {
      this.failures.push({
        rule: 'report',
        severity: 'note',
        title: `The ${what} could not be determined: ${describeError(error)}`,
        evidence: [],
        todo: 'Read the files of the bundle.',
      });
      return otherwise;
    }
  }
}

const findingOf = ({ sinceMs, ...finding }: ExplainedFinding, view: BundleView): ReportFinding => ({
  ...finding,
  title: shorten(finding.title, MOST_TITLE),
  todo: shorten(finding.todo, MOST_TODO),
  ...(sinceMs === undefined ? {} : { since: iso(sinceMs) }),
  evidence: finding.evidence.map((one) => ({ ...copy(one), ...around(view, one) })),
});

function verdictOf(view: BundleView, findings: readonly ReportFinding[]) {
  const failing = findings.filter(({ severity }) => severity === 'failing');
  const own = failing.filter(({ follows }) => follows === undefined);
  const counts = {
    failing: own.length,
    following: failing.length - own.length,
    warnings: findings.filter(({ severity }) => severity === 'warning').length,
  };
  return { sentence: sentence(view, own, counts.warnings), ...counts };
}

function sentence(view: BundleView, own: readonly ReportFinding[], warnings: number): string {
  if (own.length > 0) {
    const named = own.slice(0, MOST_NAMED).map(({ title }) => shorten(title, MOST_NAME));
    const more = own.length > named.length ? [`and ${own.length - named.length} more`] : [];
    const what = own.length === 1 ? '1 thing is failing' : `${own.length} things are failing`;
    return `${what}: ${[...named, ...more].join('; ')}`;
  }
  if (view.paths().length === 0) return 'There is nothing to judge: no source could be read.';
  // Of a bundle that was cut off, most may be missing.
  const where = (view.failures ?? []).length === 0 ? '' : ' in what could be read';
  return warnings === 0
    ? `Nothing is failing${where}.`
    : `Nothing is failing${where}; ${plural(warnings, 'thing')} may need attention.`;
}

function stepOf({
  startMs,
  endMs,
  isEstimated,
  boot: _boot,
  evidence,
  ...run
}: ReportedRun): TimelineStep {
  return {
    ...run,
    start: iso(startMs),
    ...(endMs === undefined ? {} : { end: iso(endMs) }),
    estimated: isEstimated,
    evidence: copy(evidence),
  };
}

const copy = ({ file, line, text }: Evidence) => ({ file, line, text });

/** A valid date, whatever a log line contains. */
function iso(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? new Date(0).toISOString() : date.toISOString();
}

/** Control characters move a terminal's cursor; bidirectional marks reverse text in a browser. */
const CONTROLS = /[\p{Cc}\p{Cf}\u2028\u2029]+/gu;

/** Texts of bundles, fit for terminals, browsers and people. */
function presentable<T>(value: T): T {
  return JSON.parse(
    JSON.stringify(value, (_key, item: unknown) =>
      typeof item === 'string' ? shorten(item.replace(CONTROLS, ' '), MOST_TEXT) : item,
    ),
  );
}
