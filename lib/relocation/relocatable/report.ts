import { join } from 'node:path';
import { z } from 'zod';
import { hostFactsSchema } from '../../config/site-config/host-facts.ts';
import type { HostPaths } from '../../host/paths.ts';
import { CHECK_NAMES } from './validation/facts.ts';

/** `report.json` of the factory: what is known of a node that is shipped. Nothing of it is secret. */
export const factoryReportSchema = z.object({
  apiVersion: z.literal('sno-agents/v1'),
  kind: z.literal('FactoryReport'),
  at: z.iso.datetime(),
  version: z.string().describe('of sno-agents'),
  kubernetes: z.string(),
  openshift: z.string().optional().describe('on OpenShift: its release'),
  passed: z.boolean(),
  shippingDays: z.number(),
  shelfLife: z
    .object({
      until: z.iso.datetime(),
      name: z.string().describe('the certificate that expires first'),
    })
    .optional(),
  checks: z.array(
    z.object({
      name: z.enum(CHECK_NAMES),
      faults: z.array(z.string()),
      notes: z.array(z.string()),
    }),
  ),
  host: hostFactsSchema.describe('for "sno verify site-config" and "sno create site-volume"'),
});

export type FactoryReport = z.infer<typeof factoryReportSchema>;

/** Of its signature by a key of the host (`ssh-keygen -Y sign`). */
export const REPORT_NAMESPACE = 'sno-factory-report';

/** The report and what belongs to it, in one folder, to be copied from the host. */
export const reportPaths = ({ state }: Pick<HostPaths, 'state'>) => {
  const folder = join(state, 'factory');
  return {
    folder,
    json: join(folder, 'report.json'),
    signature: join(folder, 'report.json.sig'),
    /** The public key that belongs to the signature. */
    key: join(folder, 'report-key.pub'),
    page: join(folder, 'report.html'),
    facts: join(folder, 'host-facts.json'),
  } as const;
};
