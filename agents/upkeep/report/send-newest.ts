import { join } from 'node:path';
import type { ProxySettings } from '../../../lib/base/network/proxy-for.ts';
import type { Limits } from '../../../lib/base/wait/limits.ts';
import type { NodeReport } from '../../../lib/engine/report/node-report.ts';
import type { ReportTo } from '../../../lib/engine/report/report-to.ts';
import {
  type NodeStatus,
  siteStatusOf,
  wantsNewer,
} from '../../../lib/engine/report/site-status-of.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import type { Settings } from '../../../lib/host/settings.ts';
import { type Collected, digestOf } from './collect.ts';
import { type Delivery, deliver } from './deliver.ts';
import { heed, type WantedOfNode } from './heed.ts';
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
/** A change has many reports, whose answers say it, too. */
const ASK_MS = 10 * 60_000;
/** How often a number that was too low is corrected in one run. */
const MOST_NUMBERS = 3;

/** The number of the next report: it rises whatever the clock does, and by the clock from one disk to the next. */
export const nextSequence = (last: number, now: Date): number =>
  Math.max(last + 1, Math.floor(now.getTime() / 1000));

/** Sends what is collected, unless they know it; a hub is then asked what it wants. */
export async function sendNewest(
  reporting: Reporting,
  collected: Collected,
  limits: Limits,
): Promise<Sent> {
  const { paths, target, settings, to } = reporting;
  const now = new Date();
  let state = await readState(paths, target);
  const digest = digestOf(collected);
  if (state.refused !== undefined && isWithin(state.refused.at, settings.reportRefusedMs, now)) {
    return { kind: 'waiting', why: state.refused.why };
  }
  const { accepted } = state;
  if (accepted?.digest === digest && isWithin(accepted.at, DAY_MS, now)) {
    await ask(reporting, { state, report: collected, now }, limits);
    return { kind: 'known' };
  }
  let refused = '';
  for (let number = 0; number < MOST_NUMBERS; number++) {
    const report = {
      ...collected,
      sequence: nextSequence(state.sequence, now),
      at: now.toISOString(),
    };
    const status = statusOf(to, report, state);
    // Before it is sent: a number that was used is never used again.
    state = { ...state, sequence: report.sequence, conditions: status.conditions };
    await writeState(paths, state);
    const answer = await sendOnce(reporting, report, status, limits);
    if (answer.kind !== 'older') {
      const wasNewer = wantsNewer(report, knownOf(to, state));
      state = after(state, answer, { report, digest, now });
      await writeState(paths, state);
      if (answer.kind !== 'accepted') return answer;
      await heedAnswer(reporting, answer.wanted);
      // The answer says that the Site has meanwhile asked for something newer than what it was told of.
      if (wasNewer || !wantsNewer(report, knownOf(to, state))) return answer;
      continue;
    }
    refused = answer.why;
    state = { ...state, sequence: Math.max(state.sequence, answer.newest) };
  }
  const answer = { kind: 'refused', why: refused } as const;
  await writeState(paths, { ...state, refused: { at: now.toISOString(), why: refused } });
  return answer;
}

const knownOf = (to: ReportTo, { site }: Pick<ReportState, 'site'>) => ({
  wanted: site?.serial,
  installed: 'hub' in to ? to.hub.serial : undefined,
});

const statusOf = (
  to: ReportTo,
  report: NodeReport,
  state: Pick<ReportState, 'conditions' | 'site'>,
): NodeStatus => siteStatusOf(report, state.conditions ?? [], knownOf(to, state));

/** Asks what a hub wants, from time to time: with a report that it judges, and does not keep. */
async function ask(
  reporting: Reporting,
  { state, report, now }: { state: ReportState; report: Collected; now: Date },
  limits: Limits,
): Promise<void> {
  const { paths, to } = reporting;
  if (!('hub' in to) || isWithin(state.site?.askedAt ?? '', ASK_MS, now)) return;
  const sequence = nextSequence(state.sequence, now);
  const tried = { ...report, sequence, at: now.toISOString() };
  const answer = await sendOnce(reporting, tried, statusOf(to, tried, state), {
    ...limits,
    isTried: true,
  });
  if (answer.kind !== 'accepted') return;
  await writeState(paths, { ...state, site: siteIn(answer.wanted, now) });
  await heedAnswer(reporting, answer.wanted);
}

const siteIn = (wanted: WantedOfNode | undefined, now: Date) => ({
  askedAt: now.toISOString(),
  ...(wanted === undefined ? {} : { serial: wanted.serial }),
});

async function heedAnswer({ paths, to }: Reporting, wanted: WantedOfNode | undefined) {
  if ('hub' in to && wanted !== undefined) await heed(paths, to.hub, wanted);
}

const sendOnce = (
  { paths, to, proxy }: Reporting,
  report: NodeReport,
  status: NodeStatus,
  limits: Limits & { readonly isTried?: boolean },
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
    return { ...state, accepted: { at, digest, report }, site: siteIn(answer.wanted, now) };
  }
  const { why } = answer;
  if (answer.kind === 'refused') return { ...state, refused: { at, why } };
  return { ...state, unanswered: { since: unanswered?.since ?? at, why } };
}
