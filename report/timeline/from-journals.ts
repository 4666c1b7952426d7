import { failureSentence } from '../../lib/base/errors/failure-data.ts';
import type { BundleView } from '../bundle-view.ts';
import { allStepJournals, type StepEntry } from '../reading/steps.ts';
import { type ReportedRun, stageOf } from './run.ts';

/** The installed host has a copy of the live stage's journals, made while the disk was written. */
const COPIED = 'its journal was copied to the disk here';

/** Runs of all steps from the step journals; entries that the bundle contains several times count once. */
export function runsFromJournals(view: BundleView): ReportedRun[] {
  const entries = distinctEntries(view);
  const lastBoot = entries.findLast(({ boot }) => boot !== '')?.boot;
  const hasRebooted = entries.some((entry) => stageOfEntry(entry) === 'installed');
  const byAgent = Map.groupBy(entries, ({ agent }) => agent);
  return [...byAgent.values()].flatMap((own) => {
    const runs = fold(own);
    for (const run of runs) {
      const isCopy = run.stage === 'live' && hasRebooted;
      if (run.result === 'running' && isCopy) run.note ??= COPIED;
      if (run.result === 'running' && (isCopy || run.boot !== lastBoot)) run.result = 'interrupted';
      if (run.result === 'interrupted') run.endMs ??= lastOf(entries, run) ?? run.startMs;
    }
    return runs;
  });
}

function distinctEntries(view: BundleView): StepEntry[] {
  const distinct = new Map<string, StepEntry>();
  for (const entry of allStepJournals(view).flatMap(({ entries }) => entries)) {
    const { agent, boot, up, step, event, attempt, atMs } = entry;
    const key = [agent, boot, up, step, event, attempt, atMs].join(' ');
    if (!distinct.has(key)) distinct.set(key, entry);
  }
  return [...distinct.values()].toSorted((a, b) => a.atMs - b.atMs);
}

function fold(entries: readonly StepEntry[]): ReportedRun[] {
  const runs: ReportedRun[] = [];
  const open = new Map<string, ReportedRun>();
  for (const entry of entries) {
    let run = open.get(entry.step);
    if (run !== undefined && run.boot !== entry.boot) {
      if (run.result === 'running') run.result = 'interrupted';
      run = undefined;
    }
    if (run === undefined) {
      run = begin(entry);
      runs.push(run);
      open.set(entry.step, run);
    }
    take(run, entry);
    if (run.result !== 'running' && run.result !== 'retrying') open.delete(entry.step);
  }
  return runs;
}

const stageOfEntry = ({ agent, evidence }: StepEntry) => stageOf(agent, evidence.file);

const begin = ({ agent, step, boot, atMs, evidence }: StepEntry): ReportedRun => ({
  agent,
  stage: stageOf(agent, evidence.file),
  step,
  boot,
  startMs: atMs,
  result: 'running',
  attempts: 0,
  isEstimated: false,
  evidence,
});

function take(run: ReportedRun, entry: StepEntry): void {
  run.evidence = entry.evidence;
  if (entry.event === 'started') {
    run.attempts += 1;
    run.result = 'running';
    delete run.endMs;
    return;
  }
  run.endMs = entry.atMs;
  run.attempts = Math.max(run.attempts, 1);
  if (entry.seconds !== undefined) run.seconds = entry.seconds;
  if (entry.waited !== undefined) run.waited = entry.waited;
  if (entry.note !== undefined) run.note = entry.note;
  if (entry.reason !== undefined) run.reason = entry.reason;
  if (entry.failure !== undefined) {
    run.failure = entry.failure;
    run.reason = failureSentence(entry.failure);
  }
  run.result = entry.event === 'attempt-failed' ? 'retrying' : entry.event;
}

/** Last known time in the boot of an interrupted run. */
const lastOf = (entries: readonly StepEntry[], { boot, stage }: ReportedRun): number | undefined =>
  entries.findLast((entry) => entry.boot === boot && stageOfEntry(entry) === stage)?.atMs;
