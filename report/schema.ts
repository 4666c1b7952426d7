import { z } from 'zod';
import { failureDataSchema } from '../lib/base/errors/failure-data.ts';

const evidenceSchema = z.object({
  file: z.string().describe('Path in the bundle.'),
  line: z.int().describe('Line number in the file, from 1.'),
  text: z.string().describe('The line, shortened and without control characters.'),
  before: z.array(z.string()).optional().describe('The lines of the log before it.'),
  after: z.array(z.string()).optional().describe('The lines of the log after it.'),
});

const findingSchema = z.object({
  rule: z.string().describe('Stable name of the rule, as in docs/reference/findings.md.'),
  severity: z.enum(['failing', 'warning', 'note']),
  title: z.string(),
  since: z.iso.datetime().optional(),
  follows: z
    .string()
    .optional()
    .describe('The rule whose finding is the cause of this one, which is expected to go with it.'),
  cause: z.int().optional().describe('Index in `findings` of that finding.'),
  evidence: z.array(evidenceSchema),
  todo: z.string().describe('What to do.'),
  failure: failureDataSchema.optional().describe('As the agent recorded it, if it did.'),
});

const stepSchema = z.object({
  agent: z.string(),
  stage: z.enum(['live', 'installed']),
  step: z.string(),
  start: z.iso.datetime(),
  end: z.iso.datetime().optional().describe('Absent while the step runs.'),
  result: z
    .enum(['done', 'failed', 'retrying', 'running', 'stopped', 'interrupted', 'reboot'])
    .describe(
      'retrying: failed, and the agent tries again. stopped: the agent was told to stop. interrupted: by a reboot or a power failure.',
    ),
  attempts: z.int(),
  seconds: z.number().optional().describe('Duration of the successful attempt.'),
  waited: z.number().optional().describe('Part of that duration spent waiting for others.'),
  note: z.string().optional(),
  reason: z.string().optional().describe('Why it failed.'),
  failure: failureDataSchema.optional(),
  estimated: z
    .boolean()
    .describe('Times were computed from durations, since the journal no longer exists.'),
  evidence: evidenceSchema,
});

const firstErrorSchema = z.object({
  unit: z.string().describe('A unit or a container.'),
  at: z.iso.datetime(),
  text: z.string(),
  evidence: evidenceSchema,
});

/** `report.json`: the data shown in report.html. */
export const reportSchema = z.object({
  schemaVersion: z
    .literal(1)
    .describe('Raised by changes that existing readers must know of; fields may be added without.'),
  version: z.string().describe('Version of the product that made this report.'),
  made: z.iso.datetime().describe('When the collection began: "now" for the findings.'),
  interrupted: z.boolean().describe('The collection was stopped early.'),
  encrypted: z
    .boolean()
    .optional()
    .describe('Whether the bundle was encrypted for the people who read it.'),
  verdict: z.object({
    sentence: z.string().describe('Names every failing finding that no other one explains.'),
    failing: z.int().describe('Failing findings that no other finding explains.'),
    following: z.int().describe('Failing findings that follow from another one.'),
    warnings: z.int(),
  }),
  state: z.string().describe('How far the installation is, in a sentence.'),
  findings: z.array(findingSchema).describe('What is failing first, then by time.'),
  timeline: z.object({
    steps: z.array(stepSchema),
    reboots: z.array(z.object({ from: z.iso.datetime(), to: z.iso.datetime() })),
    ahead: z
      .array(
        z.object({
          agent: z.string(),
          stage: z.enum(['live', 'installed']),
          steps: z.int().optional().describe('Absent if the agent has not begun.'),
        }),
      )
      .describe('Steps of the installation that had not begun.'),
  }),
  firstErrors: z
    .array(firstErrorSchema)
    .describe('The first error of each unit and container in the logs; not all of them matter.'),
  notCollected: z.array(z.object({ path: z.string(), reason: z.string() })),
  host: z
    .array(z.object({ name: z.string(), value: z.string(), file: z.string().optional() }))
    .describe('Facts about the host, each with the file that it was read from.'),
});

export type ReportDocument = z.infer<typeof reportSchema>;
export type ReportFinding = z.infer<typeof findingSchema>;
export type TimelineStep = z.infer<typeof stepSchema>;
export type HostFact = ReportDocument['host'][number];
