import { inOneLine } from '../../lib/base/printable.ts';
import { productVersion } from '../../lib/base/version.ts';
import type { GatherOutcome, GatherRecord } from '../../report/gather-record.ts';
import type { HostStage } from './gather-host.ts';

/** What a bundle says about itself. */
export interface BundleFacts {
  readonly id: string;
  readonly stage: HostStage;
  readonly hostName: string;
  readonly begun: Date;
  readonly ended: Date;
  readonly sinceMs: number | undefined;
  readonly only: ReadonlySet<string>;
  /** Why it ended early. */
  readonly interrupted: string | undefined;
  readonly isEncrypted: boolean;
  readonly outcomes: readonly GatherOutcome[];
}

/** The two files that say what is in the bundle, what is missing, and why. */
export function gatherLog(facts: BundleFacts): { path: string; contents: string }[] {
  return [
    { path: 'gather.log', contents: logText(facts) },
    { path: 'gather.json', contents: `${JSON.stringify(gatherRecord(facts), null, 1)}\n` },
  ];
}

function gatherRecord(facts: BundleFacts): GatherRecord {
  const { id, stage, hostName, begun, ended, sinceMs, only, interrupted, outcomes } = facts;
  return {
    schemaVersion: 1,
    version: productVersion,
    id,
    stage,
    hostName,
    begunAt: begun.toISOString(),
    endedAt: ended.toISOString(),
    since: sinceMs === undefined ? null : new Date(sinceMs).toISOString(),
    only: [...only],
    interrupted: interrupted ?? null,
    encrypted: facts.isEncrypted,
    sources: outcomes,
  };
}

function logText(facts: BundleFacts): string {
  const { version, begunAt, endedAt, since, only, interrupted } = gatherRecord(facts);
  const failed = facts.outcomes.filter(({ failure }) => failure !== undefined).length;
  const cut = facts.outcomes.filter(({ leftOut }) => leftOut > 0).length;
  const head = [
    `Log bundle ${facts.id} of ${facts.hostName}, ${facts.stage} host, created by sno-agents ${version}`,
    `From ${begunAt} to ${endedAt}${since === null ? '' : `, with what is newer than ${since}`}`,
    ...(only.length === 0 ? [] : [`Only these groups were requested: ${only.join(', ')}`]),
    ...(interrupted === null ? [] : [`Ended early: ${interrupted}`]),
    `The bundle is ${facts.isEncrypted ? '' : 'not '}encrypted`,
    `${facts.outcomes.length} sources; ${failed} failed or are not complete, ${cut} were truncated by a limit`,
  ];
  return `${[...head, '', ...facts.outcomes.map(outcomeLine)].join('\n')}\n`;
}

/** `ok`, `cut` (to a limit) or `FAILED`, duration, size, path, reason. */
export function outcomeLine({ path, seconds, bytes, leftOut, failure }: GatherOutcome): string {
  const state = failure !== undefined ? 'FAILED' : leftOut > 0 ? 'cut' : 'ok';
  const figures = `${state.padEnd(6)} ${seconds.toFixed(3).padStart(8)} s ${String(bytes).padStart(11)} bytes`;
  const reasons = [
    ...(failure === undefined ? [] : [failure]),
    ...(leftOut > 0 ? [`${leftOut} bytes were left out`] : []),
  ].map(inOneLine);
  return `${figures}  ${inOneLine(path)}${reasons.length === 0 ? '' : `: ${reasons.join('; ')}`}`;
}
