import { z } from 'zod';
import { failureDataSchema } from '../lib/errors/failure-data.ts';

const evidenceSchema = z.object({
  /** In the bundle, beside this file. */
  file: z.string(),
  /** From 1. */
  line: z.number().int(),
  /** The line, shortened and without control characters. */
  text: z.string(),
});

const findingSchema = z.object({
  /** As in docs/reference/findings.md. */
  rule: z.string(),
  severity: z.enum(['failing', 'warning', 'note']),
  title: z.string(),
  since: z.iso.datetime().optional(),
  /** The rule whose finding explains this one: it is expected to go away with that. */
  follows: z.string().optional(),
  evidence: z.array(evidenceSchema),
  todo: z.string(),
  /** As the agent wrote it down, where one did. */
  failure: failureDataSchema.optional(),
});

const stepSchema = z.object({
  agent: z.string(),
  stage: z.enum(['live', 'installed']),
  step: z.string(),
  start: z.iso.datetime(),
  /** Not there while it runs. */
  end: z.iso.datetime().optional(),
  /**
   * `retrying`: failed, and the agent tries it again. `stopped`: the agent was told to stop.
   * `interrupted`: cut by a reboot or a power cut.
   */
  result: z.enum(['done', 'failed', 'retrying', 'running', 'stopped', 'interrupted', 'reboot']),
  attempts: z.number().int(),
  /** Of the successful attempt, and how much of it was spent waiting for others. */
  seconds: z.number().optional(),
  waited: z.number().optional(),
  note: z.string().optional(),
  reason: z.string().optional(),
  failure: failureDataSchema.optional(),
  /** Times computed from durations, since the journal is gone. */
  estimated: z.boolean(),
  evidence: evidenceSchema,
});

const firstErrorSchema = z.object({
  /** A unit or a container. */
  unit: z.string(),
  at: z.iso.datetime(),
  text: z.string(),
  evidence: evidenceSchema,
});

/** `report.json`: what report.html shows. A change that a reader has to know of raises `version`. */
export const reportSchema = z.object({
  version: z.literal(1),
  /** When the collection began: what "now" means. */
  made: z.iso.datetime(),
  /** The collection was stopped before its end. */
  interrupted: z.boolean(),
  verdict: z.object({
    sentence: z.string(),
    /** What is failing by itself, and what only follows from that. */
    failing: z.number().int(),
    following: z.number().int(),
    warnings: z.number().int(),
  }),
  /** Where the installation stands, in a sentence. */
  state: z.string(),
  /** What is failing first, then by time. */
  findings: z.array(findingSchema),
  timeline: z.object({
    steps: z.array(stepSchema),
    reboots: z.array(z.object({ from: z.iso.datetime(), to: z.iso.datetime() })),
  }),
  /** The first error of each unit and container in the logs of the bundle; not all of them matter. */
  firstErrors: z.array(firstErrorSchema),
  notCollected: z.array(z.object({ path: z.string(), reason: z.string() })),
  host: z.array(z.object({ name: z.string(), value: z.string(), file: z.string().optional() })),
});

export type ReportDocument = z.infer<typeof reportSchema>;
export type ReportFinding = z.infer<typeof findingSchema>;
export type TimelineStep = z.infer<typeof stepSchema>;
export type HostFact = ReportDocument['host'][number];
