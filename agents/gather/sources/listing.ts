import { type CommandSource, command } from './command.ts';

/** What is in a folder: names, modes, owners, sizes and times, of what may be too secret to be read. */
export function listing(
  path: string,
  place: string,
  depth: 'folder' | 'tree' = 'folder',
): CommandSource & { readonly place: string } {
  const options = [depth === 'tree' ? '-laR' : '-la', '--time-style=full-iso'];
  // 1: something vanished meanwhile.
  return { ...command(path, ['ls', ...options, '--', place], { accepts: [0, 1] }), place };
}
