import { join } from 'node:path';
import { z } from 'zod';
import { exists, readTextIfPresent } from '../../../lib/host/files.ts';
import { type GatherHost, own } from '../gather-host.ts';
import type { Source } from '../source.ts';
import { madeJson } from './made.ts';

/** The bootkube step that fetches, verifies and imports what other control planes have in a release image. */
const PAYLOAD_STAGE = 'payload';

const entriesSchema = z.array(
  z.looseObject({
    timestamp: z.string(),
    phase: z.string(),
    result: z.string().optional(),
    stage: z.string().optional(),
    errorMessage: z.string().optional(),
  }),
);
type Entries = z.infer<typeof entriesSchema>;

/**
 * The service record of release-image if no unit of that name ran: `openshift-install analyze`
 * reads it before bootkube's and stops without it (pkg/gather/service/analyze.go). It reports the
 * result of bootkube's step `payload`.
 */
export async function releaseImageRecord(host: GatherHost): Promise<Source[]> {
  const { serviceRecords } = host.paths;
  if (host.stage !== 'live') return [];
  const bootkube = join(serviceRecords, 'bootkube.json');
  if (await exists(join(serviceRecords, 'release-image.json'))) return [];
  if (!(await exists(bootkube))) return [];
  return [
    madeJson(own(host, 'services/release-image.json'), async () =>
      releaseImageEntries(
        entriesSchema.parse(JSON.parse((await readTextIfPresent(bootkube)) ?? '[]')),
      ),
    ),
  ];
}

/** As that unit would have written them: failed if the payload step failed last, otherwise done. */
export function releaseImageEntries(bootkube: Entries): Entries {
  const first = bootkube[0];
  if (first === undefined) return [];
  const start = { timestamp: first.timestamp, phase: 'service start' };
  const stages = bootkube
    .filter(({ stage }) => stage === PAYLOAD_STAGE)
    .map((entry) => ({ ...entry, stage: 'pull-release-image' }));
  const last = stages.at(-1);
  const end = { timestamp: (last ?? first).timestamp, phase: 'service end' };
  return last?.result === 'failure'
    ? [start, ...stages, { ...last, ...end, stage: undefined }]
    : [start, ...stages, { ...end, result: 'success' }];
}
