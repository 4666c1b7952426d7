import type { SiteCondition, SiteStatus } from '../../lib/engine/report/site-status.ts';
import type { SeenSite } from './read-sites.ts';
import { runOf } from './run-of.ts';
import type { SiteObject } from './site.ts';

/** What a Site is at, the ones that need somebody first. */
export const SITE_STATES = {
  failed: 'the node says that it failed',
  undelivered: 'the hub could not make or deliver what the node needs',
  silent: 'delivered, and the node has not reported since',
  unknown: 'a Site that this version of sno does not understand',
  running: 'the node says that it works on it',
  delivered: 'waits for the node',
  rendered: 'waits for its delivery',
  waiting: 'waits for its wave',
  completed: 'the node says that it is done',
  idle: 'action none: nothing is wanted',
} as const;
export type SiteState = keyof typeof SITE_STATES;
export const SITE_STATE_NAMES = [
  'failed',
  'undelivered',
  'silent',
  'unknown',
  'running',
  'delivered',
  'rendered',
  'waiting',
  'completed',
  'idle',
] as const satisfies readonly SiteState[];

export const NEEDS_SOMEBODY: readonly SiteState[] = ['failed', 'undelivered', 'silent', 'unknown'];

/** A Site as a row. Times are by the clock of the hub, but for `at`. */
export interface SiteRowState {
  readonly name: string;
  readonly state: SiteState;
  readonly action: string;
  /** A failure code or a word, where it is failed or undelivered. */
  readonly code?: string;
  readonly what?: string;
  readonly fix?: string;
  /** `4/14 network`, while it runs. */
  readonly step?: string;
  readonly deliveredAt?: Date;
  readonly heardAt?: Date;
  /** When its change began or ended, by the clock of the node. */
  readonly at?: Date;
}

type Change = NonNullable<SiteStatus['report']>['changes'][number];

const conditionOf = (status: SiteStatus | undefined, type: SiteCondition['type']) =>
  status?.conditions?.find((condition) => condition.type === type);

/** The reason of a worker that has only begun with a new serial. */
const NOT_YET = 'NewSerial';

/** The change that the action asks for, as the node has reported it. */
function changeOf({ spec, status }: SiteObject): Change | undefined {
  return status?.report?.changes.find(({ change }) => change === spec.action);
}

/**
 * Whether what the node says is of this run of the action, and not of an earlier serial. What was refused may have none: then
 * it counts if it was heard since the volume of this run.
 */
function isOfThisRun(
  { spec, status }: SiteObject,
  change: Change | undefined,
  heardAt: Date | undefined,
): boolean {
  if (change === undefined) return true;
  const run = runOf(change, status?.report ?? {});
  if (run !== undefined) return run >= spec.serial;
  // One that a person has asked for is not this one.
  if (change.change === 'update') return false;
  const volume = status?.volume;
  if (volume === undefined || heardAt === undefined) return true;
  return volume.serial === spec.serial && heardAt >= new Date(volume.publishedAt);
}

export function stateOf(
  { name, site, heardAt }: SeenSite,
  now: Date,
  silentMs: number,
): SiteRowState {
  if (site === undefined) return { name, state: 'unknown', action: '' };
  const { spec, status } = site;
  const change = changeOf(site);
  const isNow = isOfThisRun(site, change, heardAt);
  const delivered = conditionOf(status, 'Delivered');
  const isMade = status?.volume === undefined || status.volume.serial >= spec.serial;
  const deliveredAt =
    delivered?.status === 'True' && isMade ? new Date(delivered.lastTransitionTime) : undefined;
  const row = {
    name,
    action: spec.action,
    ...(deliveredAt === undefined ? {} : { deliveredAt }),
    ...(heardAt === undefined ? {} : { heardAt }),
    ...(change === undefined || !isNow ? {} : { at: new Date(change.at) }),
  };
  if (spec.action === 'none') return { ...row, state: 'idle' };
  const ended = isNow ? endOf(status, change) : undefined;
  if (ended !== undefined) return { ...row, ...ended };
  const refused = [conditionOf(status, 'Rendered'), delivered].find(
    (condition) => condition?.status === 'False' && condition.reason !== NOT_YET,
  );
  if (refused !== undefined)
    return { ...row, state: 'undelivered', ...reasonOf(refused, undefined) };
  if (isSilent({ deliveredAt, heardAt }, now, silentMs)) {
    return { ...row, state: 'silent', ...stepOf(isNow ? change : undefined) };
  }
  if (isNow && (change?.state === 'running' || conditionOf(status, 'Started')?.status === 'True')) {
    return { ...row, state: 'running', ...stepOf(change) };
  }
  if (deliveredAt !== undefined) return { ...row, state: 'delivered' };
  const isRendered = isMade && conditionOf(status, 'Rendered')?.status === 'True';
  return { ...row, state: isRendered ? 'rendered' : 'waiting' };
}

/** What the node says of this run at its end, by its report; by its conditions where it has none. */
function endOf(
  status: SiteStatus | undefined,
  change: Change | undefined,
): Pick<SiteRowState, 'state' | 'code' | 'what' | 'fix'> | undefined {
  if (change?.state === 'running') return undefined;
  const failed = conditionOf(status, 'Failed');
  const hasFailed = change === undefined ? failed?.status === 'True' : change.state !== 'done';
  if (hasFailed) return { state: 'failed', ...reasonOf(failed, change) };
  const isDone = change !== undefined || conditionOf(status, 'Completed')?.status === 'True';
  return isDone ? { state: 'completed' } : undefined;
}

/** Of a node that works on it, too: each of its steps has a deadline, and it reports each. */
function isSilent(
  { deliveredAt, heardAt }: { deliveredAt: Date | undefined; heardAt: Date | undefined },
  now: Date,
  silentMs: number,
): boolean {
  if (deliveredAt === undefined) return false;
  const last = Math.max(deliveredAt.getTime(), heardAt?.getTime() ?? 0);
  return now.getTime() - last > silentMs;
}

/** The words of the node; those of the condition where it has none. */
const reasonOf = (condition: SiteCondition | undefined, change: Change | undefined) => ({
  code: change?.code ?? condition?.reason ?? 'unknown',
  what: change?.what ?? condition?.message ?? '',
  ...(change?.fix === undefined ? {} : { fix: change.fix }),
});

const stepOf = (change: Change | undefined) =>
  change?.step === undefined ? {} : { step: change.step };
