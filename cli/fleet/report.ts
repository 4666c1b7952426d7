import { Failure } from '../../lib/base/errors/failure.ts';
import { writeFileAtomic } from '../../lib/host/files.ts';
import type { Surroundings } from '../surroundings.ts';
import { fleetPage } from './report-page.ts';
import { type FleetStatusOptions, seenFleet } from './status.ts';

export interface FleetReportOptions extends FleetStatusOptions {
  readonly html: string;
}

/** `sno fleet report`: the page is 0600, since it has names of sites and what is wrong there. */
export async function writeFleetReport(
  options: FleetReportOptions,
  surroundings: Surroundings,
): Promise<void> {
  const { rows, status } = await seenFleet(options, surroundings);
  try {
    await writeFileAtomic(options.html, fleetPage(status, rows), 0o600);
  } catch (cause) {
    throw new Failure('usage', `--html: ${options.html} cannot be written`, { cause });
  }
  surroundings.wrote(options.html);
}
