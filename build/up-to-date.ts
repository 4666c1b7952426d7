import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { fileDigest } from './digest.ts';

const checkout = join(import.meta.dirname, '..');

/** What an executable was made of, kept beside it to tell whether it would be made the same again. */
const stampSchema = z.object({
  /** Digest of the sources, the build, the packages and `settings`. */
  inputs: z.string(),
  sources: z.array(z.string()),
  /** Digest of the executable. */
  sha256: z.string(),
});
export type Stamp = z.infer<typeof stampSchema>;

/**
 * The digest of `output` if its stamp says that it was made of what is there now. Bundling is
 * what takes longest of an executable that has not changed, so that the files are asked.
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

/** Of the sources' bytes, of all that turns them into an executable, and of `settings`. */
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
