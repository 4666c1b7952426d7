import { agentsOf } from '../../lib/engine/agents/table.ts';
import type { BundleView } from '../bundle-view.ts';
import { type Ahead, stepsAhead } from './ahead.ts';
import { runsFromJournals } from './from-journals.ts';
import { runsFromRecord, runsFromServices } from './from-records.ts';
import type { ReportedRun } from './run.ts';

export interface Reboot {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface TimelineOfRuns {
  /** Runs of the live host first; by agent in the order of their first step, then by time. */
  readonly runs: readonly ReportedRun[];
  readonly reboots: readonly Reboot[];
  readonly ahead: readonly Ahead[];
}

/** Keeps an agent that is retried for days from filling the report. */
const MOST_RUNS = 300;

/**
 * The steps of all agents across the reboot: from their step journals, otherwise from their
 * service records, otherwise from the record of the installation.
 */
export function timelineOf(view: BundleView): TimelineOfRuns {
  const runs = [...runsFromJournals(view)];
  for (const others of [runsFromServices(view), runsFromRecord(view)]) {
    const known = new Set(runs.map(({ agent }) => agent));
    // Its service record is derived from bootkube's step payload, for `openshift-install analyze`.
    if (known.has('bootkube')) known.add('release-image');
    runs.push(...others.filter(({ agent }) => !known.has(agent)));
  }
  const sorted = runs.toSorted((a, b) => a.startMs - b.startMs).slice(-MOST_RUNS);
  const byAgent = Array.from(Map.groupBy(sorted, ({ agent }) => agent));
  const ordered = byAgent.toSorted(([a], [b]) => place(a) - place(b));
  const stages = (['live', 'installed'] as const).flatMap((stage) =>
    ordered.flatMap(([, own]) => own.filter((run) => run.stage === stage)),
  );
  return { runs: stages, reboots: reboots(sorted), ahead: stepsAhead(view, stages) };
}

/** Agents that run concurrently: the leading one first. Those of the installed host run in sequence. */
const LIVE_ORDER: readonly string[] = agentsOf('live');

const place = (agent: string): number => LIVE_ORDER.indexOf(agent);

/** Between the stages, and wherever the boot id changes within one. */
function reboots(runs: readonly ReportedRun[]): Reboot[] {
  const found: Reboot[] = [];
  for (const stage of ['live', 'installed'] as const) {
    const boots = Map.groupBy(
      runs.filter((run) => run.stage === stage && run.boot !== ''),
      ({ boot }) => boot,
    );
    const spans = Array.from(boots.values(), span).toSorted((a, b) => a.fromMs - b.fromMs);
    spans.forEach(({ fromMs }, index) => {
      const before = spans[index - 1];
      if (before !== undefined) found.push({ fromMs: before.toMs, toMs: fromMs });
    });
  }
  const of = (stage: ReportedRun['stage']) => runs.filter((run) => run.stage === stage);
  const [live, installed] = [of('live'), of('installed')];
  if (live.length > 0 && installed.length > 0) {
    found.push({ fromMs: span(live).toMs, toMs: span(installed).fromMs });
  }
  return found.filter(({ fromMs, toMs }) => toMs >= fromMs).toSorted((a, b) => a.fromMs - b.fromMs);
}

const span = (runs: readonly ReportedRun[]) => ({
  fromMs: Math.min(...runs.map(({ startMs }) => startMs)),
  toMs: Math.max(...runs.map(({ startMs, endMs }) => endMs ?? startMs)),
});
