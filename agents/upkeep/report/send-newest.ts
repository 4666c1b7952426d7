import { join } from 'node:path';
import type { ProxySettings } from '../../../lib/base/network/proxy-for.ts';
import type { Limits } from '../../../lib/base/wait/limits.ts';
import type { NodeReport } from '../../../lib/engine/report/node-report.ts';
import type { ReportTo } from '../../../lib/engine/report/report-to.ts';
import { type NodeStatus, siteStatusOf } from '../../../lib/engine/report/site-status-of.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import type { Settings } from '../../../lib/host/settings.ts';
import { type Collected, digestOf } from './collect.ts';
import { type Delivery, deliver } from './deliver.ts';
import { type ReportState, readState, writeState } from './state.ts';

/** To whom this host reports, and how it reaches them. */
export interface Reporting {
  readonly paths: HostPaths;
  readonly settings: Settings;
  readonly to: ReportTo;
  /** SHA-256 of report-to.json. */
  readonly target: string;
  readonly proxy: ProxySettings | undefined;
}

export type Sent =
  | Exclude<Delivery, { readonly kind: 'older' }>
  /** It says what they have, and they have heard of this node today. */
  | { readonly kind: 'known' }
  /** It was refused a short while ago. */
  | { readonly kind: 'waiting'; readonly why: string };

const DAY_MS = 24 * 60 * 60_000;
/** How often a number that was too low is corrected in one run. */
const MOST_NUMBERS = 3;

/** The number of the next report: it rises whatever the clock does, and by the clock from one disk to the next. */
export const nextSequence = (last: number, now: Date): number =>
  Math.max(last + 1, Math.floor(now.getTime() / 1000));

/** Sends what is collected, unless they know it. */
export async function sendNewest(
  reporting: Reporting,
  collected: Collected,
  limits: Limits,
): Promise<Sent> {
  const { paths, target, settings } = reporting;
  const now = new Date();
  let state = await readState(paths, target);
  const digest = digestOf(collected);
  if (state.refused !== undefined && isWithin(state.refused.at, settings.reportRefusedMs, now)) {
    return { kind: 'waiting', why: state.refused.why };
  }
  const { accepted } = state;
  if (accepted?.digest === digest && isWithin(accepted.at, DAY_MS, now)) return { kind: 'known' };
  let refused = '';
  for (let number = 0; number < MOST_NUMBERS; number++) {
    const report = {
      ...collected,
      sequence: nextSequence(state.sequence, now),
      at: now.toISOString(),
    };
    const status = siteStatusOf(report, state.conditions ?? []);
    // Before it is sent: a number that was used is never used again.
    state = { ...state, sequence: report.sequence, conditions: status.conditions };
    await writeState(paths, state);
    const answer = await sendOnce(reporting, report, status, limits);
    if (answer.kind !== 'older') {
      await writeState(paths, after(state, answer, { report, digest, now }));
      return answer;
    }
    refused = answer.why;
    state = { ...state, sequence: Math.max(state.sequence, answer.newest) };
  }
  const answer = { kind: 'refused', why: refused } as const;
  await writeState(paths, { ...state, refused: { at: now.toISOString(), why: refused } });
  return answer;
}

const sendOnce = (
  { paths, to, proxy }: Reporting,
  report: NodeReport,
  status: NodeStatus,
  limits: Limits,
): Promise<Delivery> =>
  deliver(to, report, status, {
    ...limits,
    work: join(paths.run, 'sno-report', 'request'),
    ...(proxy === undefined ? {} : { proxy }),
  });

/** After the clock was set back, nothing counts as recent. */
function isWithin(at: string, ms: number, now: Date): boolean {
  const age = now.getTime() - Date.parse(at);
  return age >= 0 && age < ms;
}

function after(
  { refused: _refused, unanswered, ...state }: ReportState,
  answer: Exclude<Delivery, { readonly kind: 'older' }>,
  sent: {
    readonly report: NodeReport;
    readonly digest: string;
    readonly now: Date;
  },
): ReportState {
  const { report, digest, now } = sent;
  const at = now.toISOString();
  if (answer.kind === 'accepted') {
    return { ...state, accepted: { at, digest, report } };
  }
  const { why } = answer;
  if (answer.kind === 'refused') return { ...state, refused: { at, why } };
  return { ...state, unanswered: { since: unanswered?.since ?? at, why } };
}
