import { z } from 'zod';

/** What is reported of a node: what a hub asks for, and what its own timers and people do later. */
export const REPORTED_CHANGES = [
  'install',
  'relocate',
  'update',
  'restore',
  'rotate',
  'identity',
  'backup',
] as const;

/** `refused`: it failed before anything was changed; `takenBack`: it failed, and the node is as it was before. */
export const CHANGE_STATES = ['running', 'done', 'failed', 'refused', 'takenBack'] as const;

const changeSchema = z.object({
  change: z.enum(REPORTED_CHANGES),
  state: z.enum(CHANGE_STATES),
  at: z.iso.datetime().describe('when it began or ended, by the clock of the node'),
  serial: z.int().optional().describe('of the site volume or the update, if it has one'),
  asked: z
    .int()
    .optional()
    .describe('of an update that a hub has asked for: the serial of the Site then'),
  step: z
    .object({
      agent: z.string(),
      name: z.string(),
      number: z.int(),
      of: z.int(),
      since: z.iso.datetime(),
      waitingFor: z.string().optional(),
    })
    .optional()
    .describe('while it runs'),
  code: z.string().optional().describe('failure code (docs/reference/failures.md)'),
  what: z.string().optional().describe('what failed, without secrets'),
  fix: z.string().optional().describe('what a person can do'),
});
export type ReportedState = z.infer<typeof changeSchema>;

/** A report of a node. It is whole: the newest one says all that is known. */
export const nodeReportSchema = z.object({
  schemaVersion: z.literal(1),
  sequence: z
    .int()
    .describe('rises from one report of a node to the next, whatever its clock does'),
  at: z.iso.datetime(),
  node: z.string().describe('name of the host'),
  machine: z.array(z.string()).describe('serial number and MAC addresses, in lower case'),
  version: z.string().describe('of the agents'),
  nextExpiry: z
    .object({
      certificate: z.string().describe('as sno-certificates lists it; report: that for the hub'),
      notAfter: z.iso.datetime(),
    })
    .optional()
    .describe('of the certificates whose end stops something, the one that ends first'),
  changes: z.array(changeSchema).describe('the last one of each kind'),
});
export type NodeReport = z.infer<typeof nodeReportSchema>;
