import { type CommandSource, command } from './command.ts';

/** A folder listing (names, modes, owners, sizes, times) for contents that may be too secret to read. */
export function listing(
  path: string,
  place: string,
  depth: 'folder' | 'tree' = 'folder',
): CommandSource & { readonly place: string } {
  const options = [depth === 'tree' ? '-laR' : '-la', '--time-style=full-iso'];
  // 1: an entry vanished during the listing.
  return { ...command(path, ['ls', ...options, '--', place], { accepts: [0, 1] }), place };
}
