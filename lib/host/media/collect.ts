import { Failure } from '../../base/errors/failure.ts';

/** What a reader finds in a file system. */
export interface MediumEntry {
  /** Its path, without a leading slash. */
  readonly name: string;
  /** As the file system says it: `file`, or what else it is. */
  readonly kind: string;
  readonly size: number;
  read(): Promise<Uint8Array>;
}

export interface MediumLimits {
  readonly files: number;
  /** Of all files together. */
  readonly bytes: number;
}

/** How deep folders are searched. */
export const MAX_DEPTH = 4;
/** How many folders: each is read by a program of its own. */
const MAX_FOLDERS = 32;
/** How many entries are looked at. */
const MAX_ENTRIES = 1024;
/** Letters, digits and common marks: names are written to a disk and shown on a console. */
const NAME = /^[\w][\w.+@-]{0,127}(\/[\w][\w.+@-]{0,127}){0,3}$/;

export const refused = (found: string): Failure =>
  new Failure('usage', 'the medium cannot be used', {
    code: 'medium-refused',
    expected: 'regular files only, as "sno create site-volume" writes them',
    found,
    fix: 'Create the medium again.',
  });

/** What operating systems write to each medium that they see. */
export const isOfSystem = (name: string): boolean =>
  name
    .split('/')
    .some(
      (part) =>
        part.startsWith('.') ||
        part.startsWith('$') ||
        ['lost+found', 'system volume information', 'recycler'].includes(part.toLowerCase()),
    );

/**
 * Reads the files of a medium, within limits that are judged before each file is read.
 *
 * @throws Failure (usage) if it has links, devices, unusual names or too much
 */
export async function collectFiles(
  entries: AsyncIterable<MediumEntry>,
  limits: MediumLimits,
): Promise<Map<string, Uint8Array>> {
  const files = new Map<string, Uint8Array>();
  let seen = 0;
  let bytes = 0;
  let folders = 0;
  for await (const { name, kind, size, read } of entries) {
    seen += 1;
    if (seen > MAX_ENTRIES) throw refused(`more than ${MAX_ENTRIES} entries`);
    if (kind === 'directory') folders += 1;
    if (folders > MAX_FOLDERS) throw refused(`more than ${MAX_FOLDERS} folders`);
    if (kind === 'directory' || isOfSystem(name)) continue;
    const shown = JSON.stringify(name.slice(0, 100));
    if (kind !== 'file') throw refused(`${shown}, which is no regular file but a ${kind}`);
    if (!NAME.test(name)) throw refused(`a file with the name ${shown}`);
    if (files.has(name)) throw refused(`${shown} twice`);
    if (files.size >= limits.files) throw refused(`more than ${limits.files} files`);
    bytes += size;
    if (bytes > limits.bytes) throw refused(`more than ${limits.bytes} bytes`);
    const contents = await read();
    if (contents.length !== size) throw refused(`${shown}, which is damaged`);
    files.set(name, contents);
  }
  if (files.size === 0) throw refused('no files');
  return files;
}
