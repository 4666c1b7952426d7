import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { join } from 'node:path';

/** Standard folders of administrative programs, which may not be in the caller's PATH. */
const STANDARD = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];

const folders = () => {
  const given = (process.env.PATH ?? '').split(':').filter((folder) => folder.startsWith('/'));
  return [...new Set([...given, ...STANDARD])];
};

export const searchPath = (): string => folders().join(':');

/** Where a program, given by name or path, is executable here; undefined: nowhere. */
export async function pathOf(program: string): Promise<string | undefined> {
  const places = program.includes('/') ? [program] : folders().map((name) => join(name, program));
  for (const place of places) {
    const isExecutable = await access(place, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isExecutable) return place;
  }
  return undefined;
}

export const isInstalled = async (program: string): Promise<boolean> =>
  (await pathOf(program)) !== undefined;
