import { z } from 'zod';

/**
 * What the new executable wants to have on this host: computed before anything is changed, and written
 * by the present one. The format is between two releases: newer ones may only add to it.
 */
export const preparedSchema = z.object({
  schemaVersion: z.literal(1),
  /** Of the executable that computed it. */
  version: z.string(),
  /** Files that differ from those of the host. */
  files: z.array(z.object({ path: z.string(), contents: z.string(), mode: z.number() })),
  /** Units that the host does not have yet, to be enabled. */
  enable: z.array(z.string()),
  /** Links that the host does not have yet. */
  links: z.array(z.object({ path: z.string(), target: z.string() })),
  /** Objects of add-ons that change, as manifests. */
  manifests: z.array(z.object({ name: z.string(), contents: z.string() })),
});

export type Prepared = z.infer<typeof preparedSchema>;
