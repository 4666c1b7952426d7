import { z } from 'zod';
import { recordPath } from '../../../lib/engine/agents/records.ts';
import { nodeReportSchema } from '../../../lib/engine/report/node-report.ts';
import { siteConditionSchema } from '../../../lib/engine/report/site-status.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { stateFile } from '../../../lib/host/state-file.ts';

const stateSchema = z.object({
  schemaVersion: z.literal(1),
  /** The last number used, whether or not its report arrived; written before the report is sent. */
  sequence: z.int(),
  /** SHA-256 of the report-to.json that the rest is about. */
  target: z.string().optional(),
  accepted: z
    .object({
      at: z.iso.datetime(),
      /** Of the contents, without number and time. */
      digest: z.string(),
      report: nodeReportSchema,
    })
    .optional(),
  /** The conditions of the last report: each keeps its time while its status is unchanged. */
  conditions: z.array(siteConditionSchema).optional(),
  /** The serial of the Site, as the hub has said last, and when it was asked. */
  site: z.object({ serial: z.int().optional(), askedAt: z.iso.datetime() }).optional(),
  /** A refusal that looks final from here: only the timer tries again. */
  refused: z.object({ at: z.iso.datetime(), why: z.string() }).optional(),
  /** There has been no answer since. */
  unanswered: z.object({ since: z.iso.datetime(), why: z.string() }).optional(),
});

/** What sno-report keeps between its runs: no secrets. */
export type ReportState = z.infer<typeof stateSchema>;

const file = (paths: Pick<HostPaths, 'state'>) =>
  stateFile(recordPath(paths, 'report'), stateSchema, { damaged: 'none', folderMode: 0o700 });

/** Of this target; a damaged file counts as none, and the hub says which number it has. */
export async function readState(
  paths: Pick<HostPaths, 'state'>,
  target: string,
): Promise<ReportState> {
  const state = await readLastState(paths);
  if (state?.target === target) return state;
  return { schemaVersion: 1, sequence: state?.sequence ?? 0, target };
}

export const readLastState = (paths: Pick<HostPaths, 'state'>): Promise<ReportState | undefined> =>
  file(paths).read();

export const writeState = (paths: Pick<HostPaths, 'state'>, state: ReportState): Promise<void> =>
  file(paths).write(state);
