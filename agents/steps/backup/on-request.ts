import { Failure } from '../../../lib/base/errors/failure.ts';
import { failureFromData } from '../../../lib/base/errors/failure-data.ts';
import { listBackups } from '../../../lib/change/backup/store.ts';
import { statusPath } from '../../../lib/engine/steps/reporter.ts';
import { readStatus } from '../../../lib/engine/steps/status.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { startAndWait } from '../../../lib/host/start-and-wait.ts';

/** Makes a backup now, by the unit of the timer. Returns its name. @throws Failure with the reason why there is none */
export async function backUpNow(paths: HostPaths): Promise<string> {
  const before = await listBackups(paths);
  await startAndWait('sno-backup.service');
  const made = (await listBackups(paths)).find(
    ({ name, state }) => state === 'complete' && !before.some((old) => old.name === name),
  );
  if (made === undefined) throw await whyNone(paths);
  return made.name;
}

async function whyNone(paths: HostPaths): Promise<Failure> {
  const failure = (await readStatus(statusPath(paths, 'sno-backup')))?.failure;
  const cause = failure === undefined ? undefined : failureFromData(failure);
  return new Failure(cause?.kind ?? 'retry', 'no backup was made', {
    code: cause?.code,
    fix: 'See "journalctl -u sno-backup".',
    cause,
  });
}
