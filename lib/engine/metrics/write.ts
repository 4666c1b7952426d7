import { chmod, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describeError } from '../../base/errors/failure.ts';
import { writeFileAtomic } from '../../host/files.ts';
import type { HostPaths } from '../../host/paths.ts';
import type { Settings } from '../../host/settings.ts';
import { exposition } from './exposition.ts';
import type { Sample } from './metrics.ts';

/** A host whose metrics are written: its files, and the setting that names their folder. */
export interface MeasuredHost {
  readonly paths: HostPaths;
  readonly settings: Pick<Settings, 'metricsFolder'>;
}

/**
 * Replaces `<metricsFolder>/<program>.prom`, which the textfile collector of node_exporter reads. Figures never make a
 * program fail: what goes wrong is passed to `warn`.
 */
export async function writeMetrics(
  { paths, settings }: MeasuredHost,
  program: string,
  collect: () => Promise<readonly Sample[]>,
  warn: (text: string) => void,
): Promise<void> {
  const path = join(paths.at(settings.metricsFolder), `${program}.prom`);
  try {
    const text = exposition(await collect());
    await mkdirReadable(dirname(path));
    await writeFileAtomic(path, text, 0o644);
  } catch (error) {
    warn(`The metrics are not written to ${path}: ${describeError(error)}`);
  }
}

/** The units' umask would keep node_exporter out, which has a user of its own. */
async function mkdirReadable(folder: string): Promise<void> {
  const created = await mkdir(folder, { recursive: true });
  if (created !== undefined) await chmod(folder, 0o755);
}
