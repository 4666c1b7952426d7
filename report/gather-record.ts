import { z } from 'zod';

const outcomeSchema = z
  .object({
    path: z.string().describe('The file in the bundle, or the name of a group of sources.'),
    seconds: z.number().nonnegative(),
    bytes: z
      .int()
      .nonnegative()
      .describe('Length of the text in the bundle, in bytes, before compression.'),
    leftOut: z
      .int()
      .nonnegative()
      .describe('Bytes of text dropped to keep a limit, as far as they were read.'),
    failure: z.string().optional().describe('Why the source is missing or incomplete.'),
  })
  .readonly();

/** The result of one source: a line of gather.log, an entry of gather.json. */
export type GatherOutcome = z.infer<typeof outcomeSchema>;

/** The outcome of a source, or of something else identified by name, that failed. */
export const failedOutcome = (path: string, failure: string, seconds = 0): GatherOutcome => ({
  path,
  seconds,
  bytes: 0,
  leftOut: 0,
  failure,
});

/** `gather.json`: what is in a bundle, what is missing, and why. */
export const gatherRecordSchema = z
  .object({
    schemaVersion: z
      .literal(1)
      .describe(
        'Raised by changes that existing readers must know of; fields may be added without.',
      ),
    version: z.string().describe('Version of the sno-agents that collected the bundle.'),
    id: z.string(),
    stage: z.enum(['live', 'installed']).describe('Which part of an installation the host is in.'),
    hostName: z.string(),
    begunAt: z.iso.datetime(),
    endedAt: z.iso.datetime(),
    since: z.iso
      .datetime()
      .nullable()
      .describe('Value of --since as a time; null if everything was collected.'),
    only: z.array(z.string()).readonly().describe('Groups given with --only; empty for all.'),
    interrupted: z
      .string()
      .nullable()
      .describe('Why the collection ended early; null if it did not.'),
    encrypted: z
      .boolean()
      .optional()
      .describe('Whether the bundle was encrypted for the people who read it.'),
    sources: z
      .array(outcomeSchema)
      .readonly()
      .describe('In the order in which they ended: files of the bundle and whatever is missing.'),
  })
  .readonly();

export type GatherRecord = z.infer<typeof gatherRecordSchema>;
