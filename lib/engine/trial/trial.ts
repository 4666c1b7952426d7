import { z } from 'zod';
import { failureDataSchema } from '../../base/errors/failure-data.ts';

/** A file as it was, kept in the folder of the trial. */
const fileSchema = z.object({
  /** On the host. */
  path: z.string(),
  /** Undefined: there was no such file, so it is deleted when the trial is taken back. */
  was: z
    .object({
      /** Name of the copy. */
      copy: z.string(),
      mode: z.number(),
      sha256: z.string(),
    })
    .optional(),
});

export type KeptFile = z.infer<typeof fileSchema>;

const folderSchema = z.object({
  path: z.string(),
  /** Names of its files: others are deleted when the trial is taken back. */
  names: z.array(z.string()),
});

const pointsSchema = z.object({
  /** Put back first: without its network nobody reaches the host. */
  network: z.object({ files: z.array(fileSchema), folders: z.array(folderSchema) }),
  files: z.array(fileSchema),
  /** Folders that are too large to be copied: the change moves each aside, to `aside`, on the same file system. */
  moved: z.array(z.object({ path: z.string(), aside: z.string() })),
  /** Name of a backup of etcd (lib/change/backup), which is restored. Without it, the database stays as it is. */
  database: z.string().optional(),
});

/** Everything that is put back. The executable always is. */
export type PointsOfReturn = z.infer<typeof pointsSchema>;

const bootSchema = z.object({ boot: z.string(), up: z.number() });

/** The parts of a trial that are taken back one after the other. */
export const REVERT_PARTS = ['network', 'files', 'database'] as const;
export type RevertPart = (typeof REVERT_PARTS)[number];

/** `trial.json`: a change that is taken back unless it is confirmed in time. */
export const trialSchema = z.object({
  schemaVersion: z.literal(1),
  id: z.uuid(),
  /** The change, as messages name it: `the update to 1.2.3`. */
  what: z.string(),
  armedAt: z.iso.datetime(),
  /** How long it may stay unconfirmed, from its beginning and again from each later boot. */
  deadlineMs: z.int().positive(),
  /** How many restarts of the host it may see unconfirmed. */
  bootsCount: z.int().nonnegative(),
  /** The boots that it has seen, that of its beginning first, with the uptime when each was counted. */
  boots: z.array(bootSchema).min(1),
  points: pointsSchema,
  /** Why it is being taken back. Set once, and never tried again afterwards. */
  reverting: failureDataSchema.optional(),
  /** What could not be put back. */
  problems: z.array(z.object({ part: z.enum(REVERT_PARTS), failure: failureDataSchema })),
});

export type Trial = z.infer<typeof trialSchema>;

/** `last.json`: how the last trial ended. */
export const endedSchema = z.object({
  schemaVersion: z.literal(1),
  id: z.uuid(),
  what: z.string(),
  endedAt: z.iso.datetime(),
  /** `incomplete`: taken back, except for the parts in `problems`. */
  outcome: z.enum(['confirmed', 'reverted', 'incomplete']),
  /** Why it was taken back. */
  reason: failureDataSchema.optional(),
  problems: trialSchema.shape.problems,
});

export type EndedTrial = z.infer<typeof endedSchema>;

/** Whether the host is back at what it was because somebody asked for that: nothing has failed. */
export const wasAsked = ({ outcome, reason }: EndedTrial): boolean =>
  outcome === 'reverted' && reason?.code === 'way-back-requested';
