import { join } from 'node:path';
import { MAX_REPORT_TO_BYTES, parseReportTo } from '../../lib/engine/report/read-report-to.ts';
import { REPORT_TO, type ReportTo } from '../../lib/engine/report/report-to.ts';
import { textBeside } from './text-beside.ts';

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
  const text = await textBeside(path, MAX_REPORT_TO_BYTES);
  return text === undefined ? undefined : { to: parseReportTo(text, path), text };
}
