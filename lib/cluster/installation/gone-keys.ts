import { z } from 'zod';
import { recordPath } from '../../engine/agents/records.ts';
import type { HostPaths } from '../../host/paths.ts';
import { stateFile } from '../../host/state-file.ts';

const goneKeysSchema = z.strictObject({
  schemaVersion: z.literal(1),
  /** sha256 (hex) of each key's SubjectPublicKeyInfo: no byte of a private key. */
  goneKeys: z.array(z.string().regex(/^[0-9a-f]{64}$/)),
});

const file = (paths: HostPaths) =>
  stateFile(recordPath(paths, 'gone-keys'), goneKeysSchema, {
    isIndented: true,
    damaged: {
      expected: 'the list of deleted keys that the installation wrote',
      fix: 'Restore the file from a backup of the disk.',
    },
  });

/**
 * The fingerprints of the private keys that must not be on this host any more, from its installation;
 * undefined if it has no such file.
 *
 * @throws Failure (fatal) if the file is damaged.
 */
export async function readGoneKeys(paths: HostPaths): Promise<string[] | undefined> {
  return (await file(paths).read())?.goneKeys;
}

export const writeGoneKeys = (paths: HostPaths, goneKeys: readonly string[]): Promise<void> =>
  file(paths).write({ schemaVersion: 1, goneKeys: [...goneKeys] });
