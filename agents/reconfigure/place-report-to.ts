import { reportToPath } from '../../lib/engine/report/read-report-to.ts';
import { writeFileAtomic } from '../../lib/host/files.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import { startUnit } from '../../lib/host/systemd.ts';

/** What starts sno-report, which have not been active on a host without the file; and itself, for one that had another. */
const STARTED_BY = ['sno-report.path', 'sno-report.timer', 'sno-report.service'];

/** Makes the host report to the receiver that the volume names. If it names none, the host keeps the one that it has. */
export async function placeReportTo(
  paths: HostPaths,
  contents: Uint8Array | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (contents === undefined) return;
  await writeFileAtomic(reportToPath(paths), contents, 0o600);
  for (const unit of STARTED_BY) {
    // Without it, nobody is told before the next boot: no reason to refuse a site.
    await startUnit(unit, signal).catch(() => signal.throwIfAborted());
  }
}
