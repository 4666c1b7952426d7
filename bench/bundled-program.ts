import { writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { bundle } from '../build/bundle.ts';

/** Bundles a TypeScript program into one file for Node, like the executables. Returns its path. */
export async function bundledProgram(entry: string, folder: string): Promise<string> {
  const path = join(folder, `${basename(entry, '.ts')}.cjs`);
  await writeFile(path, await bundle({ entry, constants: {} }));
  return path;
}
