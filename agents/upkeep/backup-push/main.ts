import { EXIT, type ExitCode } from '../../../lib/base/errors/exit-codes.ts';
import type { AgentLogOptions } from '../../../lib/base/log/agent-log.ts';
import { timeOfBackup } from '../../../lib/change/backup/manifest.ts';
import { backupToPath } from '../../../lib/change/backup/push/read-backup-to.ts';
import { readPushState } from '../../../lib/change/backup/push/state.ts';
import { type Sample, sample } from '../../../lib/engine/metrics/metrics.ts';
import { measureRun } from '../../../lib/engine/metrics/run.ts';
import { runAgent } from '../../../lib/engine/steps/agent-command.ts';
import { exists } from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { pushContext } from './context.ts';
import { backupPushPlan } from './plan.ts';

/** The command line of sno-backup-push: the common one. Returns the exit code. */
export async function runBackupPush(
  paths: HostPaths,
  args: readonly string[],
  output: AgentLogOptions = {},
): Promise<ExitCode> {
  return runAgent(paths, args, output, (settings) => ({
    plan: backupPushPlan(settings),
    context: () => pushContext(paths),
    about: () => aboutStored(paths),
    // Its timer starts it again.
    exitWhenStopped: EXIT.done,
    measure: (ended) =>
      measureRun({ paths, settings }, 'sno-backup-push', ended, () => pushMetrics(paths)),
  }));
}

/** Of which time the newest backup is that can be had without this host. */
export async function pushMetrics(paths: HostPaths): Promise<Sample[]> {
  const at = timeOfBackup((await readPushState(paths))?.stored?.name ?? '');
  return at === undefined ? [] : [sample('sno_backup_stored_timestamp_seconds', {}, at)];
}

/** What `status` says besides the step. */
async function aboutStored(paths: HostPaths): Promise<{ text: string; data: object }> {
  const { stored, failed } = (await readPushState(paths)) ?? {};
  const lines = [
    ...((await exists(backupToPath(paths)))
      ? []
      : ['backups of this host stay on it: it has no /etc/sno-agents/backup-to.json']),
    stored === undefined
      ? 'no backup was stored yet'
      : `stored last: ${stored.url}, ${stored.at}, SHA-256 ${stored.sha256}`,
    ...(failed === undefined
      ? []
      : [`not stored since ${failed.since}: ${failed.name}: ${failed.what}`]),
  ];
  return {
    text: `${lines.join('\n')}\n`,
    data: { stored: stored ?? null, failed: failed ?? null },
  };
}
