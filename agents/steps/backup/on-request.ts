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
  const begun = new Date();
  const refused = await startAndWait('sno-backup.service');
  const made = (await listBackups(paths)).find(
    ({ name, state }) => state === 'complete' && !before.some((old) => old.name === name),
  );
  if (made === undefined) throw await whyNone(paths, begun, refused);
  return made.name;
}

/** What the agent has said since then; if it was not started, what systemd said. An earlier failure explains nothing. */
async function whyNone(
  paths: HostPaths,
  begun: Date,
  refused: Failure | undefined,
): Promise<Failure> {
  const status = await readStatus(statusPath(paths, 'sno-backup'));
  const isOf = status !== undefined && new Date(status.updated) >= begun;
  const failure = isOf ? status.failure : undefined;
  const said = failure === undefined ? undefined : failureFromData(failure);
  return new Failure(said?.kind ?? 'retry', 'no backup was made', {
    code: said?.code,
    fix: 'See "journalctl -u sno-backup".',
    cause: said ?? refused,
  });
}
