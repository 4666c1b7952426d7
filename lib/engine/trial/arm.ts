import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Failure } from '../../base/errors/failure.ts';
import type { FailureData } from '../../base/errors/failure-data.ts';
import { bootMoment } from '../../host/boot.ts';
import { removeFile, syncDirectory, writeFileAtomic } from '../../host/files.ts';
import type { HostPaths } from '../../host/paths.ts';
import { reloadUnits, startUnit, stopUnit } from '../../host/systemd.ts';
import { lockAgent } from '../steps/lock.ts';
import { keptExecutable, timerDropin, trialPath } from './places.ts';
import { dropPoints, keepPoints, type WantedPoints } from './points.ts';
import { readLast, readTrial, recordReverting, writeLast, writeTrial } from './store.ts';
import type { EndedTrial, Trial } from './trial.ts';

const TIMER = 'sno-trial.timer';
/** At a boot, a timer is started before its service, which counts the boot: it must not fire before the deadline. */
const TIMER_MARGIN_MS = 120_000;
const SERVICE = 'sno-trial.service';
/** Of the agent that takes a change back: nobody confirms meanwhile. */
const LOCK = 'sno-trial';

/** A change that is to be taken back unless it is confirmed. */
export interface ArmOptions {
  /** Of the change: arming it again continues its trial. */
  readonly id: string;
  /** As messages name it. */
  readonly what: string;
  /** How long it may stay unconfirmed, from now and again from each later boot. */
  readonly deadlineMs: number;
  /** How many restarts of the host it may see unconfirmed. */
  readonly bootsCount: number;
  readonly points: WantedPoints;
}

/**
 * Keeps the points of return and begins a trial. When it returns, everything is on the disk: whatever
 * happens from now on, the host comes back to these points unless `confirmTrial` is called.
 *
 * @throws Failure (usage) if another change is on trial, or this one has ended
 */
export async function armTrial(
  paths: HostPaths,
  { id, what, deadlineMs, bootsCount, points }: ArmOptions,
  signal: AbortSignal,
): Promise<Trial> {
  using _lock = await lockAgent(LOCK, paths.root);
  const present = await readTrial(paths);
  if (present !== undefined && (present.id !== id || present.reverting !== undefined)) {
    throw new Failure('usage', `${present.what} is on trial`, {
      fix: 'Wait for its end: see "sno-trial status".',
    });
  }
  if ((await readLast(paths))?.id === id) {
    throw new Failure('usage', `the trial of ${what} has ended`, {
      fix: 'See "sno-trial status".',
    });
  }
  await writeTimer(paths, deadlineMs, signal);
  if (present === undefined) {
    const kept = await keepPoints(paths, points);
    const trial: Trial = {
      schemaVersion: 1,
      id,
      what,
      armedAt: new Date().toISOString(),
      deadlineMs,
      bootsCount,
      boots: [await bootMoment()],
      points: kept,
      problems: [],
    };
    await writeTrial(paths, trial);
    await startUnit(TIMER, signal);
    return trial;
  }
  await startUnit(TIMER, signal);
  return present;
}

/** The timer has the condition that a trial is under way, and starts with the host. */
async function writeTimer(paths: HostPaths, deadlineMs: number, signal: AbortSignal) {
  const seconds = Math.ceil((deadlineMs + TIMER_MARGIN_MS) / 1000);
  const text = `[Timer]\nOnActiveSec=\nOnActiveSec=${seconds}\n`;
  await writeFileAtomic(timerDropin(paths), text, 0o644);
  await reloadUnits(signal);
}

/**
 * Ends a trial: the change stays, and nothing is kept of the host before it.
 *
 * @throws Failure (usage) if there is none, or it is being taken back
 */
export async function confirmTrial(paths: HostPaths, signal: AbortSignal): Promise<Trial> {
  using _lock = await lockAgent(LOCK, paths.root);
  const trial = await readTrial(paths);
  if (trial === undefined) throw new Failure('usage', 'nothing is on trial');
  if (trial.reverting !== undefined) {
    throw new Failure('usage', `${trial.what} is being taken back`, {
      fix: 'Wait for its end: see "sno-trial status".',
    });
  }
  await writeLast(paths, endOf(trial, 'confirmed'));
  await dropTrial(paths, trial, signal);
  return trial;
}

/**
 * Has a change taken back: the host restarts, and comes up with its points of return. Does nothing
 * without a trial; the first reason is kept.
 */
export async function revertTrial(
  paths: HostPaths,
  reason: FailureData,
  signal: AbortSignal,
): Promise<void> {
  if (await recordReverting(paths, reason)) await startUnit(SERVICE, signal);
}

/** Ends a trial that was taken back. */
export async function endReverted(paths: HostPaths, trial: Trial): Promise<EndedTrial> {
  const ended = endOf(trial, trial.problems.length === 0 ? 'reverted' : 'incomplete');
  await writeLast(paths, ended);
  return ended;
}

const endOf = (
  { id, what, reverting, problems }: Trial,
  outcome: EndedTrial['outcome'],
): EndedTrial => ({
  schemaVersion: 1,
  id,
  what,
  endedAt: new Date().toISOString(),
  outcome,
  ...(reverting === undefined ? {} : { reason: reverting }),
  problems,
});

/**
 * Deletes what a trial has kept. `last.json` says that it has ended, so an interrupted attempt is
 * continued and nothing is put back. The executable by which sno-trial runs is the last to go. What
 * could not be put back stays for a person, until the next trial.
 */
export async function dropTrial(
  paths: HostPaths,
  { points, problems }: Trial,
  signal: AbortSignal,
): Promise<void> {
  if (problems.length === 0) await dropPoints(paths, points);
  const dropins = dirname(timerDropin(paths));
  await rm(dropins, { recursive: true, force: true });
  await syncDirectory(dirname(dropins));
  await removeFile(trialPath(paths));
  await reloadUnits(signal);
  await stopUnit(TIMER, signal);
  await removeFile(keptExecutable(paths));
}
