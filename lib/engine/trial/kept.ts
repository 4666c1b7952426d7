import { mkdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Failure } from '../../base/errors/failure.ts';
import type { FailureData } from '../../base/errors/failure-data.ts';
import { bootMoment } from '../../host/boot.ts';
import { run } from '../../host/command.ts';
import { exists, readTextIfPresent, syncDirectory } from '../../host/files.ts';
import { runOutsideSandbox } from '../../host/outside-sandbox.ts';
import type { HostPaths } from '../../host/paths.ts';
import { stateFile } from '../../host/state-file.ts';
import { syncTree } from '../../host/sync-tree.ts';
import { startUnit } from '../../host/systemd.ts';
import { lockAgent } from '../steps/lock.ts';
import { copiesFolder, keptExecutable, trialFolder } from './places.ts';
import { placeLink } from './points.ts';
import { readTrial, writeTrial } from './store.ts';
import { type Trial, trialSchema } from './trial.ts';

const RECORD = 'trial.json';
const COPIES = 'copies';
const LINK_MS = 60_000;
const LOCK = 'sno-trial';

/**
 * Keeps the points of return of the trial under way in a folder, for a way back after it was confirmed. Files get a
 * second name: nothing is copied that is on the same mount. An earlier folder is replaced; the record is written last.
 */
export async function keepTrial(
  paths: HostPaths,
  folder: string,
  signal: AbortSignal,
): Promise<void> {
  const trial = await readTrial(paths);
  if (trial === undefined) throw new Failure('usage', 'nothing is on trial');
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await linkTree(copiesFolder(paths), join(folder, COPIES), signal);
  for (const { aside } of trial.points.moved) {
    if (!(await exists(paths.at(aside)))) continue;
    await linkTree(paths.at(aside), join(folder, basename(aside)), signal);
  }
  await recordIn(folder).write(trial);
  await syncDirectory(dirname(folder));
}

/** The trial whose points of return a folder has; undefined without one. */
export const readKept = (folder: string): Promise<Trial | undefined> => recordIn(folder).read();

/** What a file was, if it was one of its points of return and existed; `path`: on the host. */
export async function readKeptFile(
  folder: string,
  { points }: Pick<Trial, 'points'>,
  path: string,
): Promise<string | undefined> {
  const copy = points.files.find((file) => file.path === path)?.was?.copy;
  return copy === undefined ? undefined : readTextIfPresent(join(folder, COPIES, basename(copy)));
}

const recordIn = (folder: string) =>
  stateFile(join(folder, RECORD), trialSchema, { damaged: 'none-if-read' });

/**
 * Has the host restarted and brought back to the points of return of a folder. The executable stays the present one.
 *
 * @throws Failure (usage) if there is none, or something is on trial
 */
export async function returnToKept(
  paths: HostPaths,
  folder: string,
  { id, reason }: { readonly id: string; readonly reason: FailureData },
  signal: AbortSignal,
): Promise<void> {
  using _lock = await lockAgent(LOCK, paths.root);
  const kept = await readKept(folder);
  if (kept === undefined) throw new Failure('usage', 'nothing is kept of the host from before');
  const present = await readTrial(paths);
  if (present !== undefined) throw new Failure('usage', `${present.what} is on trial`);
  await rm(copiesFolder(paths), { recursive: true, force: true });
  await mkdir(trialFolder(paths), { recursive: true, mode: 0o700 });
  await linkTree(join(folder, COPIES), copiesFolder(paths), signal);
  for (const { aside } of kept.points.moved) {
    const copy = join(folder, basename(aside));
    if (!(await exists(copy))) continue;
    // Complete or not there at all: what is aside replaces the folder.
    const beside = `${paths.at(aside)}.new`;
    await rm(beside, { recursive: true, force: true });
    await rm(paths.at(aside), { recursive: true, force: true });
    await linkTree(copy, beside, signal);
    await rename(beside, paths.at(aside));
  }
  await placeLink(paths.executable, keptExecutable(paths));
  await writeTrial(paths, {
    ...kept,
    id,
    boots: [await bootMoment()],
    reverting: reason,
    problems: [],
  });
  await startUnit('sno-trial.service', signal);
}

/**
 * Copies what is on another mount, to which there are no links: /etc and /var of CoreOS are two of one file system. Outside the
 * sandbox, since files of other users stay theirs.
 */
async function linkTree(source: string, target: string, signal: AbortSignal): Promise<void> {
  const limits = { signal, deadlineMs: LINK_MS };
  try {
    await run('cp', ['--archive', '--link', '--', source, target], limits);
  } catch {
    signal.throwIfAborted();
    await rm(target, { recursive: true, force: true });
    await runOutsideSandbox('cp', ['--archive', '--reflink=auto', '--', source, target], limits);
    await syncTree(target, signal);
  }
}
