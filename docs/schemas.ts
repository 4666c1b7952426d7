import { z } from 'zod';
import { fleetStatusSchema } from '../cli/fleet/summary.ts';
import { snoResultSchema } from '../cli/process/json-result.ts';
import { rowResultSchema } from '../cli/site/rows/results.ts';
import { resultSchema } from '../lab/result.ts';
import { manifestSchema } from '../lib/change/backup/manifest.ts';
import { backupToSchema } from '../lib/change/backup/push/backup-to.ts';
import { backupListSchema } from '../lib/change/backup/store.ts';
import { recordSchema } from '../lib/cluster/installation/record.ts';
import { hostFactsSchema } from '../lib/config/site-config/host-facts.ts';
import { topologyReportSchema } from '../lib/config/topology/report.ts';
import { nodeReportSchema } from '../lib/engine/report/node-report.ts';
import { reportToSchema } from '../lib/engine/report/report-to.ts';
import { statusSchema } from '../lib/engine/steps/status.ts';
import { inventorySchema } from '../lib/pki/inventory.ts';
import { volumeManifestSchema } from '../lib/relocation/site-volume/manifest.ts';
import { gatherRecordSchema } from '../report/gather-record.ts';
import { reportSchema } from '../report/schema.ts';

/** What is published: the schema's name is that of its file. */
const PUBLISHED = {
  status: { title: '/run/sno-agents/<agent>/status.json', schema: statusSchema },
  record: { title: '/var/lib/sno-agents/record.json', schema: recordSchema },
  backups: { title: 'sno-backup list --json', schema: backupListSchema },
  backup: { title: 'manifest.json of a backup', schema: manifestSchema },
  certificates: { title: 'sno-certificates list --json', schema: inventorySchema },
  gather: { title: 'gather.json of a log bundle', schema: gatherRecordSchema },
  report: { title: 'report.json of a log bundle', schema: reportSchema },
  topology: { title: 'sno explain topology --json', schema: topologyReportSchema },
  'host-facts': { title: 'host-facts.json of a factory', schema: hostFactsSchema },
  'site-volume': { title: 'site-volume.json of a volume for a site', schema: volumeManifestSchema },
  'report-to': { title: 'report-to.json: to whom a node reports', schema: reportToSchema },
  'backup-to': { title: 'backup-to.json: where a host stores its backups', schema: backupToSchema },
  'node-report': { title: 'what sno-report sends to a URL', schema: nodeReportSchema },
  'site-volumes': {
    title: 'a line of results.jsonl of sno create site-volumes',
    schema: rowResultSchema,
  },
  sno: { title: 'sno create, verify, wait-for ... --json', schema: snoResultSchema },
  fleet: { title: 'sno fleet status --json', schema: fleetStatusSchema },
  result: { title: 'lab/out/<scenario>/result.json', schema: resultSchema },
} as const;

/**
 * The JSON Schemas (draft 2020-12) of what the product writes and reads, for programs. They allow
 * further fields: a later version may add some without a new `schemaVersion`.
 */
export function schemaDocuments(): { path: string; contents: string }[] {
  return Object.entries(PUBLISHED).map(([name, { title, schema }]) => ({
    path: `docs/reference/schemas/${name}.schema.json`,
    contents: `${JSON.stringify({ title, ...z.toJSONSchema(schema, { io: 'input' }) }, null, 2)}\n`,
  }));
}
