import { Failure } from '../base/errors/failure.ts';
import { isLocked, lockAgent } from '../engine/steps/lock.ts';
import { notYet, type Outcome } from '../engine/steps/step.ts';
import { readTrial } from '../engine/trial/store.ts';
import { exists } from '../host/files.ts';
import type { HostPaths } from '../host/paths.ts';
import { identityChange } from './identity/request.ts';
import { restoreChange } from './restore/request.ts';
import { rotationChange } from './rotation/request.ts';
import { siteChange } from './site/request.ts';
import { updateChange } from './update/request.ts';

/*
 * Backup, renewal, restore, rotation, update, a change of the identity and that to a site read and replace the same files. A request excludes the
 * others: their units have the condition that it does not exist, and no other request is accepted.
 * What is running when a request is written ends first.
 */

/** Every kind of change on request. */
export const CHANGES = {
  restore: restoreChange,
  rotation: rotationChange,
  identity: identityChange,
  update: updateChange,
  site: siteChange,
} as const;

/**
 * Why nothing else may be requested now; undefined if nothing is under way.
 *
 * @param own a change that does not exclude: that of the caller.
 */
export async function changeUnderWay(
  paths: HostPaths,
  own?: keyof typeof CHANGES,
): Promise<Failure | undefined> {
  for (const [name, { requestPath, underWay, status }] of Object.entries(CHANGES)) {
    if (name === own || !(await exists(requestPath(paths)))) continue;
    return new Failure('usage', underWay, { fix: `Wait for its end: see "${status}".` });
  }
  return undefined;
}

/** @throws Failure (usage) while another change of the host is under way, or on trial */
export async function requireIdle(paths: HostPaths, own?: keyof typeof CHANGES): Promise<void> {
  const underWay = await changeUnderWay(paths, own);
  if (underWay !== undefined) throw underWay;
  const trial = await readTrial(paths);
  if (trial === undefined) return;
  throw new Failure('usage', `${trial.what} is on trial`, {
    fix: 'Wait for its end: see "sno-trial status".',
  });
}

/**
 * Writes the request of a change, or what takes one back. Since it was judged, minutes can have passed, in which a person
 * was asked or files were fetched: what was requested meanwhile excludes it.
 *
 * @throws Failure (usage): nothing was written
 */
export async function beginChange<T>(paths: HostPaths, write: () => Promise<T>): Promise<T> {
  using _alone = await lockAgent('change', paths.root).catch((cause: unknown) => {
    throw new Failure('usage', 'another change is being requested', { fix: 'Try again.', cause });
  });
  const underWay = await changeUnderWay(paths);
  if (underWay !== undefined) throw underWay;
  return await write();
}

/** For the first step of a request: what is still running; undefined if it may begin. */
export async function stillRunning({ root }: HostPaths): Promise<Outcome | undefined> {
  for (const agent of ['sno-backup', 'sno-renew']) {
    if (await isLocked(agent, root)) return notYet(`${agent} is running`);
  }
  return undefined;
}
