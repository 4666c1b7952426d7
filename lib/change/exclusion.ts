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
    return new Failure('usage', underWay, {
      code: 'change-under-way',
      fix: `Wait for its end: see "${status}".`,
    });
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
    code: 'change-under-way',
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
    throw new Failure('usage', 'another change is being requested', {
      code: 'change-under-way',
      fix: 'Try again.',
      cause,
    });
  });
  // Also of a way back, which has no request.
  await requireIdle(paths);
  return await write();
}

/** Whether a change could not be requested because of another one, which ends: it can be tried again. */
export const isOtherChange = (error: unknown): boolean =>
  error instanceof Failure && error.code === 'change-under-way';

/** They change the host without a request, for a person in a factory. */
const FACTORY = ['reconfigure-prepare', 'reconfigure-prepare-undo'] as const;

/**
 * For an agent of the factory, called while it holds its lock: what is requested from now on waits for its end (`stillRunning`).
 *
 * @throws Failure (usage) while anything else changes the host
 */
export async function requireAlone(paths: HostPaths, agent: string): Promise<void> {
  await requireIdle(paths);
  for (const other of FACTORY) {
    if (other === agent || !(await isLocked(other, paths.root))) continue;
    throw new Failure('usage', `${other} is running`, {
      code: 'change-under-way',
      fix: 'Wait for its end.',
    });
  }
}

/** For the first step of a request: what is still running; undefined if it may begin. */
export async function stillRunning({ root }: HostPaths): Promise<Outcome | undefined> {
  for (const agent of ['sno-backup', 'sno-renew', ...FACTORY]) {
    if (await isLocked(agent, root)) return notYet(`${agent} is running`);
  }
  return undefined;
}
