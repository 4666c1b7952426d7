import { duration } from '../reading/words.ts';
import type { ReportDocument, TimelineStep } from '../schema.ts';
import { type Html, html } from './html.ts';
import { clock, section } from './parts.ts';
import { type Scale, scaleOf } from './scale.ts';

/** Percent: shorter bars would be invisible. */
const MIN_WIDTH = 0.6;
const STAGES = { live: 'live host', installed: 'installed host' } as const;

interface Axis extends Scale {
  readonly madeMs: number;
  readonly reboots: readonly { readonly fromMs: number; readonly toMs: number }[];
}

/** The steps of all agents, each as a bar on one axis across the reboot and as a table row. */
export function timelineSection({ timeline, made }: ReportDocument): Html {
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
  const moments = steps.flatMap((step) => [Date.parse(step.start), endOf(step, madeMs)]);
  const axis: Axis = { ...scaleOf(moments), madeMs, reboots };
  const agents = Map.groupBy(steps, ({ agent }) => agent);
  const estimated = steps.some((step) => step.estimated);
  const body = html`
<p class="legend"><span class="key work"></span>own work <span class="key wait"></span>waiting for others
<span class="key bad"></span>failed <span class="key open"></span>not ended <span class="key reboot"></span>reboot${
    estimated ? html` <span class="key guess"></span>placed by its duration` : undefined
  }</p>
<div class="card gantt"><table>
<thead><tr><th>Step</th><td class="bar">${axisSvg(axis)}</td><th class="num">Took</th><th class="note">Result</th></tr></thead>
${Array.from(agents, ([agent, own]) => agentBody(agent, own, axis))}
</table></div>`;
  return section('timeline', 'Timeline', steps.length, body);
}

const endOf = ({ start, end, result }: TimelineStep, madeMs: number): number =>
  end === undefined
    ? Math.max(result === 'running' ? madeMs : 0, Date.parse(start))
    : Date.parse(end);

const agentBody = (agent: string, steps: readonly TimelineStep[], axis: Axis): Html => html`
<tbody>
<tr class="agent"><th scope="rowgroup">${agent} <span>${STAGES[steps[0]?.stage ?? 'live']}</span></th><td class="bar">${lane(axis)}</td><td></td><td></td></tr>
${steps.map((step) => row(step, axis))}
</tbody>`;

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

/** A row's part of the axis, with the bands that cross all rows. */
const lane = (axis: Axis, content?: Html): Html =>
  html`<svg width="100%" height="16" aria-hidden="true">${bands(axis)}${content}</svg>`;

const bands = ({ at, breaks, reboots }: Axis): Html[] => [
  ...breaks.map(({ fromMs, toMs }) => band('pause', at(fromMs), at(toMs))),
  ...reboots.map(({ fromMs, toMs }) => band('reboot', at(fromMs), at(toMs))),
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
  const { at, ticks, reboots, breaks } = axis;
  const labels = ticks.map(
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
  return html`<svg class="axis" width="100%" height="32" aria-hidden="true">${labels}${gaps}</svg>`;
}

const anchor = (percent: number) => (percent < 8 ? 'start' : percent > 92 ? 'end' : 'middle');
