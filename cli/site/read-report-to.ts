import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { MAX_REPORT_TO_BYTES, parseReportTo } from '../../lib/engine/report/read-report-to.ts';
import { REPORT_TO, type ReportTo } from '../../lib/engine/report/report-to.ts';
import { isMissing } from '../../lib/host/files.ts';

/** A report-to.json without faults. */
export interface GivenReportTo {
  readonly to: ReportTo;
  /** As it goes to the host. It may have a key or a token. */
  readonly text: string;
}

/**
 * The report-to.json of a folder with site-config.yaml or install-config.yaml; undefined if it has none.
 *
 * @throws Failure (usage) that names the file and each field with a fault
 */
export async function readReportTo(dir: string): Promise<GivenReportTo | undefined> {
  const path = join(dir, REPORT_TO);
  const stats = await stat(path).catch((error: unknown) => {
    if (!isMissing(error)) throw new Failure('usage', `${path} cannot be read`, { cause: error });
  });
  if (stats === undefined) return undefined;
  if (!stats.isFile() || stats.size > MAX_REPORT_TO_BYTES) {
    throw new Failure('usage', `${path} cannot be used`, {
      expected: `a file of at most ${MAX_REPORT_TO_BYTES} bytes`,
      found: stats.isFile() ? `${stats.size} bytes` : 'something else',
    });
  }
  const text = await readFile(path, 'utf8');
  return { to: parseReportTo(text, path), text };
}
