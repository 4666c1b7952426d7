import type { NodeReport, ReportedState } from './node-report.ts';
import {
  type NODE_CONDITIONS,
  type SiteCondition,
  type SiteStatus,
  STATUS_LIMITS,
} from './site-status.ts';

type NodeCondition = (typeof NODE_CONDITIONS)[number];
/** The part of a Site's status that its node owns. */
export interface NodeStatus {
  readonly conditions: SiteCondition[];
  readonly report: NonNullable<SiteStatus['report']>;
}

/** In characters, so that all texts together are below `STATUS_LIMITS.texts`: the API server would refuse the report for good. */
const MOST = { ofNewest: 800, ofOthers: 200, message: 1000 } as const;

const cut = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most - 1)}…`;

type Said = Pick<SiteCondition, 'status' | 'reason' | 'message'>;

/** Serials of the Site that a node knows beside its report. */
export interface KnownSerials {
  /** The present one, as the hub has said last. */
  readonly wanted?: number | undefined;
  /** The one by which the node was installed. */
  readonly installed?: number | undefined;
}

/** Whether the Site wants something newer than what its node has begun. */
export function wantsNewer(
  { changes }: Pick<NodeReport, 'changes'>,
  { wanted, installed }: KnownSerials,
): boolean {
  const newest = newestOf(changes);
  const serial = newest === undefined ? undefined : serialOf(newest, installed);
  return wanted !== undefined && serial !== undefined && serial < wanted;
}

/**
 * What a report says, as the status of a Site. Conditions are those of the last change that the Site has asked for; if it wants
 * something newer, that this has not begun.
 *
 * @param before the conditions that were sent last: one whose status stays keeps its time
 */
export function siteStatusOf(
  report: NodeReport,
  before: readonly SiteCondition[],
  known: KnownSerials = {},
): NodeStatus {
  const newest = newestOf(report.changes);
  const isNewer = wantsNewer(report, known);
  const said = isNewer ? notBegun(known.wanted) : newest && saidOf(newest);
  return {
    conditions: said === undefined ? [] : conditionsOf(said, report.at, before),
    report: {
      sequence: report.sequence,
      at: report.at,
      node: cut(report.node, STATUS_LIMITS.node),
      version: cut(report.version, STATUS_LIMITS.version),
      ...(report.nextExpiry === undefined ? {} : { nextExpiry: expiryOf(report.nextExpiry) }),
      changes: report.changes.map((change) =>
        bounded(change, change === newest ? MOST.ofNewest : MOST.ofOthers),
      ),
    },
  };
}

const expiryOf = ({ certificate, notAfter }: NonNullable<NodeReport['nextExpiry']>) => ({
  certificate: cut(certificate, STATUS_LIMITS.certificate),
  notAfter,
});

type Change = NonNullable<SiteStatus['report']>['changes'][number];

function bounded({ step, code, what, fix, ...change }: ReportedState, most: number): Change {
  return {
    ...change,
    ...(step === undefined
      ? {}
      : { step: cut(`${step.number}/${step.of} ${step.name}`, STATUS_LIMITS.step) }),
    ...(code === undefined ? {} : { code: cut(code, STATUS_LIMITS.reason) }),
    ...(what === undefined ? {} : { what: cut(what, most) }),
    ...(fix === undefined ? {} : { fix: cut(fix, most) }),
  };
}

/**
 * What a Site has asked of its node last: a node is moved once it is installed, and updated then. The rest is only reported: an
 * update that nobody at the hub has asked for does not take back that a site is completed.
 */
function newestOf(changes: readonly ReportedState[]): ReportedState | undefined {
  const of = (kind: ReportedState['change']) => changes.find(({ change }) => change === kind);
  const moved = of('relocate');
  const updated = of('update');
  const isLast = updated?.asked !== undefined && updated.asked > (moved?.serial ?? 0);
  return isLast ? updated : (moved ?? of('install'));
}

/** Of the Site. */
function serialOf({ change, serial, asked }: ReportedState, installed: number | undefined) {
  if (change === 'update') return asked;
  return change === 'install' ? installed : serial;
}

function saidOf(it: ReportedState): Record<NodeCondition, Said> {
  const { change, state, asked, serial = asked, step } = it;
  const of = serial === undefined ? change : `${change}, serial ${serial}`;
  const where = step === undefined ? '' : `: step ${step.number} of ${step.of}, ${step.name}`;
  const Started: Said = { status: 'True', reason: change, message: `${of}${where}` };
  if (state === 'done') {
    return {
      Started,
      Completed: { status: 'True', reason: 'Completed', message: of },
      Failed: { status: 'False', reason: 'Completed', message: '' },
    };
  }
  const reason = it.code ?? (state === 'running' ? 'InProgress' : 'Unknown');
  const message = failureText(it);
  const isOver = state !== 'running';
  return {
    Started,
    Completed: { status: 'False', reason, message: message === '' ? of : message },
    Failed: isOver
      ? { status: 'True', reason, message }
      : { status: 'False', reason: 'InProgress', message: '' },
  };
}

/** As the hub says it before it hands something over. */
function notBegun(serial: number | undefined): Record<NodeCondition, Said> {
  const said = {
    status: 'False',
    reason: 'NotReported',
    message: `The node has not begun with the serial ${serial}`,
  } as const;
  return { Started: said, Completed: said, Failed: said };
}

const ENDS: Partial<Record<ReportedState['state'], string>> = {
  refused: ' Nothing was changed.',
  takenBack: ' The node is as it was before.',
};

/** `what. fix` */
function failureText({ what, fix, state }: ReportedState): string {
  if (what === undefined) return '';
  const parts = [what, fix].filter((part) => part !== undefined);
  const text = parts.map((part) => part.replace(/\.$/, '')).join('. ');
  return `${text}.${fix?.includes('Nothing was changed') === true ? '' : (ENDS[state] ?? '')}`;
}

const conditionsOf = (
  said: Record<NodeCondition, Said>,
  at: string,
  before: readonly SiteCondition[],
): SiteCondition[] =>
  (['Started', 'Completed', 'Failed'] as const).map((type) => {
    const last = before.find((each) => each.type === type);
    const isSame = last?.status === said[type].status;
    const { status, reason, message } = said[type];
    return {
      ...{ type, status, reason: cut(reason, STATUS_LIMITS.reason) },
      message: cut(message, MOST.message),
      lastTransitionTime: isSame ? last.lastTransitionTime : at,
    };
  });
