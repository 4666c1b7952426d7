import type { FailureCode } from '../../lib/base/errors/codes.ts';
import type { FailureData } from '../../lib/base/errors/failure-data.ts';
import { parseJson } from '../../lib/base/json.ts';
import type { BundleView, Evidence } from '../bundle-view.ts';
import { evidence, whereSaid } from './evidence.ts';
import { fixOf, readFailure, withCode } from './failure.ts';
import { EARLIER, hostFilesIn } from './hosts.ts';
import { at, msAt, numberAt, textAt } from './values.ts';

const EVENTS = ['started', 'attempt-failed', 'stopped', 'done', 'failed', 'reboot'] as const;
export type StepEvent = (typeof EVENTS)[number];

/** An entry of an agent's step journal, as lib/engine/steps/journal.ts writes it. */
export interface StepEntry {
  readonly agent: string;
  readonly step: string;
  readonly event: StepEvent;
  readonly atMs: number;
  readonly boot: string;
  /** Seconds since that boot. */
  readonly up: number;
  readonly attempt: number;
  readonly seconds?: number | undefined;
  readonly waited?: number | undefined;
  /** For `failed` and `attempt-failed`. */
  readonly failure?: FailureData | undefined;
  /** For `reboot`: the reason. */
  readonly reason?: string | undefined;
  readonly note?: string | undefined;
  readonly evidence: Evidence;
}

export interface StepJournal {
  readonly agent: string;
  readonly path: string;
  readonly entries: readonly StepEntry[];
}

const JOURNAL = /(?:^|\/)steps\/(live\/)?([^/]+)\.jsonl$/;

/** Cached, since many rules use them and a bundle does not change. */
const known = new WeakMap<BundleView, readonly StepJournal[]>();

/** Every step journal in the bundle, including those of the live stage and of an earlier bundle. */
export function allStepJournals(view: BundleView): readonly StepJournal[] {
  const journals = known.get(view) ?? readStepJournals(view);
  known.set(view, journals);
  return journals;
}

function readStepJournals(view: BundleView): StepJournal[] {
  return view.paths().flatMap((path) => {
    const [, , agent] = JOURNAL.exec(path) ?? [];
    return agent === undefined ? [] : [readStepJournal(view, path, agent)];
  });
}

/** The journals of agents that may still be running on the bundle's hosts. */
export function currentStepJournals(view: BundleView): StepJournal[] {
  return allStepJournals(view).filter(
    ({ path }) => !path.includes('steps/live/') && !path.startsWith(EARLIER),
  );
}

function readStepJournal(view: BundleView, path: string, agent: string): StepJournal {
  const entries = view
    .lines(path)
    .flatMap((line, index) => parseEntry(line, agent, path, index) ?? []);
  return { agent, path, entries };
}

function parseEntry(
  line: string,
  agent: string,
  path: string,
  index: number,
): StepEntry | undefined {
  const raw = parseJson(line);
  const atMs = msAt(raw, 'at');
  const step = textAt(raw, 'step');
  const event = textAt(raw, 'event');
  if (atMs === undefined || step === undefined || !isEvent(event)) return undefined;
  return {
    agent,
    step,
    event,
    atMs,
    boot: textAt(raw, 'boot') ?? '',
    up: numberAt(raw, 'up') ?? 0,
    attempt: numberAt(raw, 'attempt') ?? 1,
    seconds: numberAt(raw, 'seconds'),
    waited: numberAt(raw, 'waited'),
    failure: isFailure(event) ? readFailure(at(raw, 'failure')) : undefined,
    reason: textAt(raw, 'reason'),
    note: textAt(raw, 'note'),
    get evidence() {
      return evidence(path, index + 1, line);
    },
  };
}

const isFailure = (event: StepEvent) => event === 'failed' || event === 'attempt-failed';

const isEvent = (event: string | undefined): event is StepEvent =>
  EVENTS.some((known) => known === event);

/** A step whose failure ended an agent, or that is being retried. */
export interface StepFailure {
  readonly agent: string;
  readonly step: string;
  /** False if systemd restarts the agent. */
  readonly isFinal: boolean;
  readonly failure: FailureData;
  /** Time of the first in the current run of failed attempts. */
  readonly sinceMs: number;
  readonly evidence: Evidence;
}

/** The failures that are, were caused by, or contain one with one of the codes. */
export const stepFailuresWith = (view: BundleView, ...codes: FailureCode[]): StepFailure[] =>
  stepFailures(view).filter(({ failure }) => withCode(failure, ...codes) !== undefined);

/** The common part of findings about a failed step. */
export const aboutFailure = ({ failure, isFinal, sinceMs, evidence }: StepFailure) => ({
  severity: isFinal ? ('failing' as const) : ('warning' as const),
  sinceMs,
  evidence: [evidence],
  todo: fixOf(failure),
  failure,
});

/** Steps run one after another, so only the last entry of a journal can be a current failure. */
export function stepFailures(view: BundleView): StepFailure[] {
  return currentStepJournals(view).flatMap(({ agent, entries }) => {
    const own = entries.filter(({ step }) => step === entries.at(-1)?.step);
    const lastEnd = own.findLastIndex(({ event }) => event === 'done' || event === 'reboot');
    const failures = own.slice(lastEnd + 1).filter(({ event }) => isFailure(event));
    const [first, last] = [failures[0], failures.at(-1)];
    if (first === undefined || last === undefined) return [];
    const isFinal = last.event === 'failed' && own.at(-1) === last;
    const { step, failure = readFailure(undefined) } = last;
    return [{ agent, step, isFinal, failure, sinceMs: first.atMs, evidence: last.evidence }];
  });
}

/** An agent's own status: `agents/status/AGENT.json`. */
export interface RunningStep {
  readonly agent: string;
  readonly unit: string;
  readonly state: string;
  readonly step: string;
  readonly number: number;
  readonly of: number;
  readonly sinceMs?: number | undefined;
  readonly untilMs?: number | undefined;
  readonly waitingFor?: string | undefined;
  readonly evidence: readonly Evidence[];
}

export function agentStatuses(view: BundleView): RunningStep[] {
  return hostFilesIn(view, 'agents/status/').flatMap((path) => {
    const raw = view.json(path);
    const step = at(raw, 'step');
    const [agent, name] = [textAt(raw, 'agent'), textAt(step, 'name')];
    if (agent === undefined || name === undefined) return [];
    const waitingFor = textAt(step, 'waitingFor');
    return [
      {
        agent,
        unit: textAt(raw, 'unit') ?? agent,
        state: textAt(raw, 'state') ?? '',
        step: name,
        number: numberAt(step, 'number') ?? 0,
        of: numberAt(step, 'of') ?? 0,
        sinceMs: msAt(step, 'since'),
        untilMs: msAt(step, 'until'),
        waitingFor,
        evidence: whereSaid(view, path, waitingFor === undefined ? '"step"' : '"waitingFor"'),
      },
    ];
  });
}
