import { join } from 'node:path';
import { readTextIfPresent, removeFile, writeFileAtomic } from '../../host/files.ts';
import type { HostPaths } from '../../host/paths.ts';
import { printableOnConsole } from './wording.ts';

type Run = Pick<HostPaths, 'run'>;

/** In /run: of this boot. */
const path = ({ run }: Run) => join(run, 'reconfigure', 'notes.txt');

/**
 * Keeps why each medium that is inserted is no site volume, with the one thing to do, for the login prompt: what is written to
 * the console is not seen on a screen if that is not the console. No sentence removes the earlier ones.
 */
export async function keepStickNotes(paths: Run, notes: readonly string[]): Promise<void> {
  const text = notes.map(printableOnConsole).join('\n');
  if (text === '') await removeFile(path(paths));
  else await writeFileAtomic(path(paths), text, 0o644);
}

/** What was kept. */
export async function readStickNotes(paths: Run): Promise<string[]> {
  const text = await readTextIfPresent(path(paths)).catch(() => undefined);
  return text?.split('\n').filter((line) => line !== '') ?? [];
}
