import type { FailureData } from '../../../lib/base/errors/failure-data.ts';
import { timeOfBackup } from '../../../lib/change/backup/manifest.ts';
import { backupToPath } from '../../../lib/change/backup/push/read-backup-to.ts';
import { type PushState, readPushState } from '../../../lib/change/backup/push/state.ts';
import { listBackups, newestBackup } from '../../../lib/change/backup/store.ts';
import type { ChangeOutcome } from '../../../lib/change/ending.ts';
import { identityChange } from '../../../lib/change/identity/request.ts';
import { restoreChange } from '../../../lib/change/restore/request.ts';
import { rotationChange } from '../../../lib/change/rotation/request.ts';
import { siteChange } from '../../../lib/change/site/request.ts';
import {
  type UpdateRequest,
  type UpdateResult,
  updateChange,
} from '../../../lib/change/update/request.ts';
import { readAsked } from '../../../lib/change/update/wanted.ts';
import { completedAt } from '../../../lib/cluster/installation/record.ts';
import { type AgentName, installs } from '../../../lib/engine/agents/table.ts';
import type { ReportedState } from '../../../lib/engine/report/node-report.ts';
import type { AgentStatus } from '../../../lib/engine/steps/status.ts';
import { readTextIfPresent, sha256 } from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { toldFailure } from './failure-text.ts';
import { hasFailed, type Statuses, stateOf, stepOf } from './statuses.ts';

/** How one kind of change stands; undefined if there was none. */
type Told = (paths: HostPaths, statuses: Statuses) => Promise<ReportedState | undefined>;

/** The last change of each kind, by the records of this host and what its agents say now. */
export async function reportedChanges(
  paths: HostPaths,
  statuses: Statuses,
): Promise<ReportedState[]> {
  const changes: ReportedState[] = [];
  for (const told of [installation, relocation, update, restore, rotation, identity, backup]) {
    // A record that is damaged is its agent's to report.
    const change = await told(paths, statuses).catch(() => undefined);
    if (change !== undefined) changes.push(change);
  }
  return changes;
}

const installation: Told = async (paths, statuses) => {
  const completed = await completedAt(paths);
  if (completed !== undefined) {
    return { change: 'install', state: 'done', at: completed.toISOString() };
  }
  const all = [...statuses].filter(([name]) => installs(name)).map(([, status]) => status);
  const failed = all.find(hasFailed);
  if (failed !== undefined) return stateOf('install', failed, 'failed');
  const newest = all.toSorted(
    (a, b) =>
      Number(b.state === 'running') - Number(a.state === 'running') ||
      Date.parse(b.updated) - Date.parse(a.updated),
  )[0];
  if (newest === undefined) return undefined;
  return { ...stateOf('install', newest, 'running'), at: newest.step?.since ?? newest.updated };
};

const relocation: Told = async (paths, statuses) => {
  const request = await siteChange.read(paths);
  const last = await siteChange.last(paths);
  const told = trialled(
    { change: 'relocate', status: statuses.get('reconfigure') },
    request,
    last && { ...last, kept: 'configured' },
  );
  const serial = (request ?? last)?.volume.serial;
  if (told === undefined) return undefined;
  // What a volume was refused for is not about the serial before it.
  return told.isNew || serial === undefined ? told.state : { ...told.state, serial };
};

const update: Told = async (paths, statuses) => {
  const request = await updateChange.read(paths);
  const last = await updateChange.last(paths);
  const wanted = await wantedUpdate(paths, request, last);
  if (wanted !== undefined) return wanted;
  const told = trialled(
    { change: 'update', status: statuses.get('sno-update') },
    request,
    last && { ...last, kept: 'updated' },
  );
  const { asked, manifest } = request ?? last ?? {};
  if (told === undefined) return undefined;
  if (told.isNew) return told.state;
  return {
    ...told.state,
    ...(manifest?.serial === undefined ? {} : { serial: manifest.serial }),
    ...(asked === undefined ? {} : { asked }),
  };
};

const BEFORE_IT_IS_ONE = { waiting: 'running', refused: 'refused', present: 'done' } as const;

/** An update that a hub asks for, while and if it is none yet. */
async function wantedUpdate(
  paths: HostPaths,
  request: UpdateRequest | undefined,
  last: UpdateResult | undefined,
): Promise<ReportedState | undefined> {
  const asked = await readAsked(paths);
  if (asked === undefined || asked.outcome === 'accepted' || request !== undefined)
    return undefined;
  if (last !== undefined && Date.parse(last.endedAt) > Date.parse(asked.at)) return undefined;
  const { outcome, at, serial, failure } = asked;
  const state = BEFORE_IT_IS_ONE[outcome];
  return { change: 'update', state, at, asked: serial, ...toldFailure(failure) };
}

interface Asked {
  readonly at: string;
  readonly failure?: FailureData | undefined;
}
interface Ended extends Asked {
  readonly endedAt: string;
  readonly outcome: ChangeOutcome<string>;
  readonly kept: string;
}

/** A change that is kept or taken back. `isNew`: one that its agent has refused before it was a request. */
function trialled(
  { change, status }: Pick<ReportedState, 'change'> & { readonly status: AgentStatus | undefined },
  request: Asked | undefined,
  last: Ended | undefined,
): { readonly state: ReportedState; readonly isNew: boolean } | undefined {
  if (request !== undefined) {
    const failure = toldFailure(request.failure ?? status?.failure);
    const state = {
      change,
      state: 'running',
      at: request.at,
      ...stepOf(status),
      ...failure,
    } as const;
    return { state, isNew: false };
  }
  const refusal = status && refusedSince(status, last);
  if (refusal !== undefined) {
    return { state: stateOf(change, refusal, 'refused'), isNew: true };
  }
  if (last === undefined) return undefined;
  const { outcome, endedAt, failure, kept } = last;
  const ENDS = { refused: 'refused', reverted: 'takenBack' } as const;
  const state = outcome === 'refused' || outcome === 'reverted' ? ENDS[outcome] : 'done';
  const told = outcome === kept ? {} : toldFailure(failure);
  return { state: { change, state, at: endedAt, ...told }, isNew: false };
}

/** The step that ends a request (`lib/change`), and then fails with what has become of it. */
const ENDING_STEP = 'conclude';

/** What its agent has refused before it was a request: the failure that ends one is in the result. */
function refusedSince(status: AgentStatus, last: Ended | undefined): AgentStatus | undefined {
  if (!hasFailed(status) || status.failure === undefined) return undefined;
  if (status.step?.name === ENDING_STEP) return undefined;
  if (last === undefined) return status;
  const isLater = Date.parse(status.updated) > Date.parse(last.endedAt);
  return isLater && status.failure.what !== last.failure?.what ? status : undefined;
}

const restore: Told = async (paths, statuses) => {
  const request = await restoreChange.read(paths);
  const step = stepOf(statuses.get('sno-backup-restore'));
  if (request !== undefined) {
    const failure = toldFailure(request.failure);
    return { change: 'restore', state: 'running', at: request.requestedAt, ...step, ...failure };
  }
  const last = await restoreChange.last(paths);
  if (last === undefined) return undefined;
  const state = last.failure === undefined ? 'done' : 'takenBack';
  return { change: 'restore', state, at: last.requestedAt, ...toldFailure(last.failure) };
};

const rotation: Told = async (paths, statuses) => {
  const request = await rotationChange.read(paths);
  if (request !== undefined) {
    return underWay('rotate', request.at, statuses, 'sno-rotate');
  }
  const last = await rotationChange.last(paths);
  return last && { change: 'rotate', state: 'done', at: last.ended };
};

const identity: Told = async (paths, statuses) => {
  const request = await identityChange.read(paths);
  if (request !== undefined) return underWay('identity', request.at, statuses, 'sno-identity');
  const last = await identityChange.last(paths);
  return last && { change: 'identity', state: 'done', at: last.at };
};

/** A change that is continued until it is done. */
function underWay(
  change: ReportedState['change'],
  at: string,
  statuses: Statuses,
  agent: AgentName,
): ReportedState {
  const status = statuses.get(agent);
  const state = status !== undefined && hasFailed(status) ? 'failed' : 'running';
  return { change, state, at, ...stepOf(status), ...toldFailure(status?.failure) };
}

const backup: Told = async (paths, statuses) => {
  const status = statuses.get('sno-backup');
  if (status !== undefined && hasFailed(status)) return stateOf('backup', status, 'failed');
  const newest = newestBackup(await listBackups(paths));
  if (newest === undefined) return undefined;
  const target = await readTextIfPresent(backupToPath(paths));
  if (target === undefined) return { change: 'backup', state: 'done', at: newest.at };
  const pushed = await readPushState(paths);
  return storedElsewhere(newest.at, pushed?.target === sha256(target) ? pushed : undefined);
};

/** Of a host whose backups leave it: what counts is the newest one that is stored. */
function storedElsewhere(newestAt: string, pushed: PushState | undefined): ReportedState {
  const { stored, failed } = pushed ?? {};
  if (failed !== undefined) {
    const { since, what, fix } = failed;
    const failure = { kind: 'fatal', code: 'backup-not-stored', what, fix } as const;
    return { change: 'backup', state: 'failed', at: since, ...toldFailure(failure) };
  }
  const at = timeOfBackup(stored?.name ?? '');
  if (at === undefined) return { change: 'backup', state: 'running', at: newestAt };
  return { change: 'backup', state: 'done', at: at.toISOString() };
}
