import { z } from 'zod';

const fileSchema = z.object({ path: z.string(), contents: z.string(), mode: z.number() });

/**
 * What the new executable wants to have on this host: computed before anything is changed, and written
 * by the present one. The format is between two releases: newer ones may only add to it.
 */
export const preparedSchema = z.object({
  schemaVersion: z.literal(1),
  /** Of the executable that computed it. */
  version: z.string(),
  /** Files that differ from those of the host. */
  files: z.array(fileSchema),
  /** Units that the host does not have yet, to be enabled. */
  enable: z.array(z.string()),
  /** Links that the host does not have yet. */
  links: z.array(z.object({ path: z.string(), target: z.string() })),
  /** Present if the control plane behaves as an earlier minor version until the update is confirmed. */
  emulation: z
    .object({
      /** Such as 1.36. */
      version: z.string(),
      /** The files of the control plane that say so, and the same ones for afterwards; the API server's first. */
      during: z.array(fileSchema),
      after: z.array(fileSchema),
    })
    .optional(),
  /** Objects of add-ons that change, as manifests. */
  manifests: z.array(z.object({ name: z.string(), contents: z.string() })),
});

export type Prepared = z.infer<typeof preparedSchema>;
