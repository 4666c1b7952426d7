import { z } from 'zod';
import { isMissing, sha256OfFile } from '../../host/files.ts';
import type { HostPaths } from '../../host/paths.ts';
import { stateFile } from '../../host/state-file.ts';

const entrySchema = z.object({
  /** Absolute path on the installed host. */
  path: z.string(),
  /** Of the contents as installed: another file at that path must not be deleted. */
  sha256: z.string(),
  why: z.string(),
  /** When it may be deleted. */
  when: z.literal('steady-state'),
  /** Set for the file of a systemd unit, which is disabled first. */
  unit: z.string().optional(),
});

/**
 * `/etc/sno-agents/leftovers.json`: every file on the installed host that only the
 * bootstrap needs, and the keys that must not be on its disk afterwards, by the
 * fingerprints of their public keys.
 */
export const ledgerSchema = z.object({
  entries: z.array(entrySchema),
  /** sha256 (hex) of each key's SubjectPublicKeyInfo. */
  goneKeys: z.array(z.string()),
});

export type LedgerEntry = z.infer<typeof entrySchema>;
export type Ledger = z.infer<typeof ledgerSchema>;

/**
 * Whether the file that the bootstrap installed still exists. Another file at its path
 * is an operator's: operators overwrite manifests in place, so it was handed over.
 */
export async function isLeft(
  paths: HostPaths,
  { path, sha256 }: LedgerEntry,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    return (await sha256OfFile(paths.at(path), signal)) === sha256;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

export const ledgerPath = (paths: HostPaths) => `${paths.config}/leftovers.json`;

const file = (paths: HostPaths) =>
  stateFile(ledgerPath(paths), ledgerSchema, {
    damaged: {
      expected: 'the leftovers ledger',
      fix: 'Restore it: on a host that a live host installed, from the combined Ignition. Without it nothing is deleted.',
    },
  });

/** The ledger of this host; undefined if it does not exist. @throws Failure (fatal) if it is damaged */
export const readLedger = (paths: HostPaths): Promise<Ledger | undefined> => file(paths).read();

export const writeLedger = (paths: HostPaths, ledger: Ledger): Promise<void> =>
  file(paths).write(ledger);
