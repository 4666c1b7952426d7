import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { fileDigest } from './digest.ts';

const checkout = join(import.meta.dirname, '..');

/** The inputs of an executable, stored beside it to detect whether a rebuild would be identical. */
const stampSchema = z.object({
  /** Digest of the sources, the build, the packages and `settings`. */
  inputs: z.string(),
  sources: z.array(z.string()),
  /** Digest of the executable. */
  sha256: z.string(),
});
export type Stamp = z.infer<typeof stampSchema>;

/**
 * The digest of `output` if its stamp matches the current inputs. Checking the files avoids
 * bundling, which takes longest for an unchanged executable.
 */
export async function builtDigest(
  output: string,
  stampFile: string,
  settings: unknown,
): Promise<string | undefined> {
  const text = await readFile(stampFile, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const stamp = stampSchema.safeParse(JSON.parse(text)).data;
  if (stamp === undefined) return undefined;
  const inputs = await inputsDigest(stamp.sources, settings).catch(() => undefined);
  if (inputs !== stamp.inputs) return undefined;
  const found = await fileDigest(output, 'sha256', 'hex').catch(() => undefined);
  return found === stamp.sha256 ? found : undefined;
}

/** Digest of the sources, everything that turns them into an executable, and `settings`. */
export async function inputsDigest(sources: readonly string[], settings: unknown): Promise<string> {
  const names = (await readdir(import.meta.dirname)).toSorted();
  const build = names.filter((name) => /\.(ts|mjs)$/.test(name));
  const tools = [
    join(checkout, 'package-lock.json'),
    ...build.map((name) => join(import.meta.dirname, name)),
  ];
  const hash = createHash('sha256').update(JSON.stringify([process.version, settings]));
  for (const path of [...tools, ...sources]) {
    hash.update(`\0${path}\0`).update(await readFile(path));
  }
  return hash.digest('hex');
}
