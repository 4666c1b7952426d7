import { z } from 'zod';
import { Failure } from '../../base/errors/failure.ts';
import { parseJson } from '../../base/json.ts';
import { recordPath } from '../../engine/agents/records.ts';
import { readTextIfPresent, writeFileAtomic } from '../../host/files.ts';
import type { HostPaths } from '../../host/paths.ts';

const goneKeysSchema = z.strictObject({
  schemaVersion: z.literal(1),
  /** sha256 (hex) of each key's SubjectPublicKeyInfo: no byte of a private key. */
  goneKeys: z.array(z.string().regex(/^[0-9a-f]{64}$/)),
});

const pathOf = (paths: HostPaths) => recordPath(paths, 'gone-keys');

/**
 * The fingerprints of the private keys that must not be on this host any more, from its installation;
 * undefined if it has no such file.
 *
 * @throws Failure (fatal) if the file is damaged.
 */
export async function readGoneKeys(paths: HostPaths): Promise<string[] | undefined> {
  const text = await readTextIfPresent(pathOf(paths));
  if (text === undefined) return undefined;
  const { data, error } = goneKeysSchema.safeParse(parseJson(text));
  if (data !== undefined) return data.goneKeys;
  throw new Failure('fatal', `${pathOf(paths)} is damaged`, {
    expected: 'the list of deleted keys that the installation wrote',
    found: z.prettifyError(error),
    fix: 'Restore the file from a backup of the disk.',
  });
}

export async function writeGoneKeys(paths: HostPaths, goneKeys: readonly string[]): Promise<void> {
  const text = JSON.stringify({ schemaVersion: 1, goneKeys }, null, 2);
  await writeFileAtomic(pathOf(paths), `${text}\n`, 0o600);
}
