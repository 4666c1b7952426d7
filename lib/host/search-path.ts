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

/** Whether a program, given by name or path, is executable here. */
export async function isInstalled(program: string): Promise<boolean> {
  const places = program.includes('/') ? [program] : folders().map((name) => join(name, program));
  return Promise.any(places.map((place) => access(place, constants.X_OK))).then(
    () => true,
    () => false,
  );
}
