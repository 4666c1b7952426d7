import { causesOf } from '../consequences.ts';
import { duration, plural } from '../reading/words.ts';
import type { ReportDocument, ReportFinding, TimelineStep } from '../schema.ts';
import { type AgentRuns, agentRuns } from '../timeline/agent-runs.ts';
import { type Html, html } from './html.ts';
import { clock, section } from './parts.ts';
import { type Scale, scaleOf } from './scale.ts';

/** Percent: shorter bars would be invisible. */
const MIN_WIDTH = 0.6;
/** Percent: the last label is left of its moment. */
const LAST_GAP = 23;
const STAGES = { live: 'live host', installed: 'installed host' } as const;

interface Axis extends Scale {
  readonly madeMs: number;
  readonly reboots: readonly { readonly fromMs: number; readonly toMs: number }[];
  readonly marks: readonly Mark[];
}

/** The moment of a finding; the number is that of its card, for an independent failure. */
interface Mark {
  readonly atMs: number;
  readonly title: string;
  readonly severity: ReportFinding['severity'];
  readonly number?: number;
}

/**
 * The steps of all agents as bars on one axis across the reboot, which ends when the bundle was
 * made: failed agents first, finished ones folded.
 */
export function timelineSection(report: ReportDocument): Html {
  const { timeline, made } = report;
  const { steps } = timeline;
  if (steps.length === 0) {
    return section(
      'timeline',
      'Timeline',
      0,
      html`<p class="nothing">The bundle has no step of any agent.</p>`,
    );
  }
  const madeMs = Date.parse(made);
  const reboots = timeline.reboots.map(({ from, to }) => ({
    fromMs: Date.parse(from),
    toMs: Date.parse(to),
  }));
  const marks = marksOf(report).filter(({ atMs }) => atMs <= madeMs);
  const moments = [
    ...steps.flatMap((step) => [Date.parse(step.start), endOf(step, madeMs)]),
    ...marks.map(({ atMs }) => atMs),
    madeMs,
  ];
  const axis: Axis = { ...scaleOf(moments), madeMs, reboots, marks };
  const key = (kind: string, what: string) =>
    html`<span class="pair"><span class="key ${kind}"></span>${what}</span>`;
  const body = html`
<p class="legend">${key('work', 'own work')}${key('wait', 'waiting for others')}${key('bad', 'failed')}${key('open', 'not ended')}${key('reboot', 'reboot')}${
    steps.some((step) => step.estimated) ? key('guess', 'placed by its duration') : undefined
  }${marks.length > 0 ? key('mark', 'a finding began (number: its cause)') : undefined}${
    timeline.ahead.length > 0 ? key('ahead', 'still to come') : undefined
  }</p>
<div class="card gantt"><div class="lanes head"><span>Agent</span><div class="bar">${axisSvg(axis)}</div></div>
${agentRuns(timeline).map((runs) => agentBlock(runs, axis))}
</div>`;
  return section('timeline', 'Timeline', steps.length, body);
}

function marksOf({ findings }: ReportDocument): Mark[] {
  const causes = causesOf(findings).map(({ cause }) => cause);
  const marks = findings.flatMap((finding): Mark[] => {
    const { since, title, severity } = finding;
    if (since === undefined || severity === 'note') return [];
    const index = causes.indexOf(finding);
    const number = index < 0 ? {} : { number: index + 1 };
    return [{ atMs: Date.parse(since), title, severity, ...number }];
  });
  // Numbers are drawn last, above others.
  return marks.toSorted((a, b) => (a.number ?? 0) - (b.number ?? 0));
}

const endOf = ({ start, end, result }: TimelineStep, madeMs: number): number =>
  end === undefined
    ? Math.max(result === 'running' ? madeMs : 0, Date.parse(start))
    : Date.parse(end);

function agentBlock(runs: AgentRuns, axis: Axis): Html {
  const { agent, stage, state, steps, ahead } = runs;
  const head = html`<span class="who"><b>${agent}</b> ${STAGES[stage]}</span>
<span class="bar">${lane(axis, overall(runs, axis))}</span><span class="note">${outcome(runs)}</span>`;
  if (state === 'ahead') return html`<div class="lanes agent ahead">${head}</div>`;
  const more =
    ahead === undefined
      ? undefined
      : html`
<tr class="ahead"><th scope="row">${plural(ahead, 'more step')}</th><td class="bar">${lane(axis, dotted(steps, axis))}</td><td class="num"></td><td class="note">still to come</td></tr>`;
  const open = state === 'finished' ? undefined : html` open`;
  return html`
<details class="agent ${state}"${open}><summary class="lanes">${head}</summary>
<table>${steps.map((step) => row(step, axis))}${more}</table></details>`;
}

function outcome({ state, steps }: AgentRuns): string {
  const last = steps.at(-1);
  if (last === undefined) return 'not begun';
  if (state !== 'finished') return `${last.result} at ${last.step}`;
  return `${last.result}, ${plural(steps.length, 'step')}`;
}

/** All steps of an agent as one bar; for an agent that has not begun, what is left of the axis. */
function overall({ state, steps }: AgentRuns, axis: Axis): Html {
  if (steps.length === 0) return dotted([], axis);
  const from = Math.min(...steps.map(({ start }) => Date.parse(start)));
  const to = Math.max(...steps.map((step) => endOf(step, axis.madeMs)));
  const { x, width } = extent(axis.at(from), axis.at(to));
  return html`<g class="step whole ${state}">${strip('span', x, width)}</g>`;
}

/** From the last known step to the end of the axis. */
function dotted(steps: readonly TimelineStep[], { at, madeMs }: Axis): Html {
  const from = Math.min(97, at(Math.max(0, ...steps.map((step) => endOf(step, madeMs)))));
  const x = steps.length === 0 ? 97 : from;
  return html`<line class="ahead" x1="${x.toFixed(2)}%" x2="100%" y1="9" y2="9"/>`;
}

function row(step: TimelineStep, axis: Axis): Html {
  const { result, reason } = step;
  const said =
    reason === undefined || result === 'done' || result === 'reboot'
      ? undefined
      : html`
<tr class="said ${result}"><td colspan="4">${reason}</td></tr>`;
  return html`
<tr class="${result}"><th scope="row">${step.step}</th>
<td class="bar">${lane(axis, bar(step, axis))}</td>
<td class="num">${tookOf(step, axis)}</td><td class="note">${noteOf(step)}</td></tr>${said}`;
}

function tookOf(step: TimelineStep, { madeMs }: Axis): string {
  const { seconds, result, start, estimated } = step;
  if (estimated && seconds === 0) return '';
  const isDone = seconds !== undefined && result === 'done';
  return duration(isDone ? seconds * 1000 : endOf(step, madeMs) - Date.parse(start));
}

function noteOf({ result, attempts, note, reason }: TimelineStep): string {
  const tries = attempts > 1 ? `${attempts} tries` : '';
  const end = result === 'done' ? '' : result === 'reboot' ? `reboot: ${reason ?? ''}` : result;
  return [end, tries, note].filter((part) => part !== undefined && part !== '').join(', ');
}

/** A row's part of the axis, with the bands and lines that cross all rows. */
const lane = (axis: Axis, content?: Html): Html =>
  html`<svg width="100%" height="16" aria-hidden="true">${bands(axis)}${content}</svg>`;

const bands = ({ at, breaks, reboots, marks }: Axis): Html[] => [
  ...breaks.map(({ fromMs, toMs }) => band('pause', at(fromMs), at(toMs))),
  ...reboots.map(({ fromMs, toMs }) => band('reboot', at(fromMs), at(toMs))),
  ...marks.map(({ atMs, severity }) => {
    const x = `${at(atMs).toFixed(2)}%`;
    return html`<line class="mark ${severity}" x1="${x}" x2="${x}" y1="0" y2="100%"/>`;
  }),
];

function bar(step: TimelineStep, { at, madeMs }: Axis): Html {
  const startMs = Date.parse(step.start);
  const { x, width } = extent(at(startMs), at(endOf(step, madeMs)));
  const title = `${step.step}: ${clock(startMs)}, ${step.result}`;
  const kind = step.estimated ? `${step.result} guess` : step.result;
  const own = ownShare(step);
  const work = own === undefined ? undefined : strip('work', x, width * own);
  return html`<g class="step ${kind}"><title>${title}</title>${strip('span', x, width)}${work}</g>`;
}

/** For a completed step, the share of time spent on its own work. */
const ownShare = ({ result, seconds, waited }: TimelineStep): number | undefined =>
  result !== 'done' || seconds === undefined || seconds <= 0
    ? undefined
    : Math.min(1, Math.max(0, (seconds - (waited ?? 0)) / seconds));

/** Wide enough to be visible, and within the axis. */
function extent(from: number, to: number): { x: number; width: number } {
  const width = Math.max(MIN_WIDTH, to - from);
  return { x: Math.min(from, 100 - width), width };
}

const strip = (kind: string, x: number, width: number): Html =>
  html`<rect class="${kind}" x="${x.toFixed(2)}%" y="4" width="${width.toFixed(2)}%" height="10" rx="2"/>`;

function band(kind: string, from: number, to: number): Html {
  const { x, width } = extent(from, to);
  return html`<rect class="${kind}" x="${x.toFixed(2)}%" y="0" width="${width.toFixed(2)}%" height="100%"/>`;
}

function axisSvg(axis: Axis): Html {
  const { at, ticks, reboots, breaks, marks, madeMs } = axis;
  // The last label is the moment at which the bundle was made.
  const before = ticks.filter((ms) => at(ms) < at(madeMs) - LAST_GAP);
  const labels = [...before, madeMs].map(
    (ms) =>
      html`<text x="${at(ms).toFixed(2)}%" y="12" text-anchor="${anchor(at(ms))}">${clock(ms)}</text>`,
  );
  const gaps = [
    ...reboots.map((gap) => ({ ...gap, what: 'reboot' })),
    ...breaks
      .filter(({ fromMs, toMs }) => !reboots.some((one) => one.fromMs < toMs && one.toMs > fromMs))
      .map((gap) => ({ ...gap, what: 'pause' })),
  ].map(({ fromMs, toMs, what }) => {
    const middle = (at(fromMs) + at(toMs)) / 2;
    return html`<text class="gap" x="${middle.toFixed(2)}%" y="27" text-anchor="${anchor(middle)}">${what} ${duration(toMs - fromMs)}</text>`;
  });
  return html`<svg class="axis" width="100%" height="48" aria-hidden="true">${labels}${gaps}${marks.map((mark) => flag(mark, at))}</svg>`;
}

/** A dot on the axis, with the number of the cause. */
function flag({ atMs, title, severity, number }: Mark, at: Scale['at']): Html {
  const x = Math.min(99, Math.max(1, at(atMs))).toFixed(2);
  const label =
    number === undefined
      ? undefined
      : html`<text x="${x}%" y="43.5" text-anchor="middle">${number}</text>`;
  return html`<g class="flag ${severity}"><title>${clock(atMs)} ${title}</title><circle cx="${x}%" cy="40" r="${number === undefined ? 3 : 7}"/>${label}</g>`;
}

const anchor = (percent: number) => (percent < 8 ? 'start' : percent > 92 ? 'end' : 'middle');
