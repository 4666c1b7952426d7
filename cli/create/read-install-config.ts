import { isUtf8 } from 'node:buffer';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { getSystemErrorMap } from 'node:util';
import { Failure } from '../../lib/base/errors/failure.ts';
import { exists } from '../../lib/host/files.ts';
import { INSTALL_CONFIG } from '../install-config/file-name.ts';

/** Several times the size of an operating system's whole trust store. */
const MOST_BYTES = 1024 * 1024;

/**
 * The text of DIR/install-config.yaml. @throws Failure (usage) on one line for
 * anything but a text file of a sensible size
 */
export async function readInstallConfig(dir: string): Promise<string> {
  const other = join(dir, INSTALL_CONFIG.replace(/yaml$/, 'yml'));
  // What cannot be looked at is said below, by its own path.
  const isThere = (path: string) => exists(path).catch(() => true);
  if (!(await isThere(join(dir, INSTALL_CONFIG))) && (await isThere(other))) {
    throw new Failure('usage', `${join(dir, INSTALL_CONFIG)} does not exist; nothing was written`, {
      found: other,
      fix: `Rename it to ${INSTALL_CONFIG}.`,
    });
  }
  return readConfigText(join(dir, INSTALL_CONFIG), 'its folder with --dir');
}

/** The same, of a file with any name; `option` says what else can be set in which option. */
export async function readConfigText(
  path: string,
  option: string,
  most = MOST_BYTES,
): Promise<string> {
  const bytes = await readRegularFile(path, option, most);
  const other = otherEncoding(bytes);
  if (other === undefined) return bytes.toString('utf8');
  throw refused(path, 'UTF-8 text', other, 'Save it as UTF-8.');
}

/** How files of .xlsx and .ods begin. */
const ZIP = Buffer.from('PK\u0003\u0004');

/** What bytes are instead of UTF-8 text, in words; undefined if they are that. */
export const otherEncoding = (bytes: Buffer): string | undefined =>
  foreignEncoding(bytes) ??
  (bytes.subarray(0, ZIP.length).equals(ZIP)
    ? 'a spreadsheet or another archive, no text'
    : undefined) ??
  (isUtf8(bytes) ? undefined : `other bytes in line ${firstBadLine(bytes)}`);

/** Does not wait for a writer if the file is a FIFO. */
async function readRegularFile(path: string, option: string, most: number): Promise<Buffer> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = await file.stat();
    const fix = `Put the file itself there, or set ${option}.`;
    if (stats.isDirectory()) throw refused(path, 'a regular file', 'a folder', fix);
    if (!stats.isFile()) throw refused(path, 'a regular file', 'a special file', fix);
    if (stats.size > most) {
      const found = `${stats.size} bytes`;
      throw refused(path, `at most ${most} bytes`, found, 'Remove what is not needed.');
    }
    return await file.readFile();
  } catch (error) {
    throw error instanceof Failure ? error : unreadable(path, option, error);
  }
}

function refused(path: string, expected: string, found: string, fix: string): Failure {
  return new Failure('usage', `${path} cannot be used; nothing was written`, {
    expected,
    found,
    fix,
  });
}

function unreadable(path: string, option: string, error: unknown): Failure {
  if (!(error instanceof Error) || !('errno' in error) || typeof error.errno !== 'number') {
    return new Failure('usage', `${path} cannot be read; nothing was written`, { cause: error });
  }
  const [code = '', words = 'unknown error'] = getSystemErrorMap().get(error.errno) ?? [];
  if (code === 'ENOENT') {
    return new Failure('usage', `${path} does not exist; nothing was written`, {
      fix: `Create it, or set ${option}.`,
    });
  }
  return new Failure('usage', `${path} cannot be read (${words}); nothing was written`, {
    fix: `Make it readable, or set ${option}.`,
  });
}

/** UTF-16 or UTF-32, recognized by a byte order mark or by the zero bytes of mostly-ASCII text. */
function foreignEncoding(bytes: Buffer): string | undefined {
  const [first, second, third, fourth] = bytes;
  if (first === 0 && second === 0 && (third === 0xfe || third === 0)) return 'UTF-32';
  if (first === 0xff && second === 0xfe) {
    return third === 0 && fourth === 0 ? 'UTF-32' : 'UTF-16';
  }
  if (first === 0xfe && second === 0xff) return 'UTF-16';
  return bytes.length >= 2 && (first === 0) !== (second === 0) ? 'UTF-16' : undefined;
}

/** A line break byte is never part of another character. */
function firstBadLine(bytes: Buffer): number {
  let line = 1;
  let start = 0;
  while (start < bytes.length) {
    const end = bytes.indexOf('\n', start);
    const after = end < 0 ? bytes.length : end + 1;
    if (!isUtf8(bytes.subarray(start, after))) return line;
    start = after;
    line += 1;
  }
  return line;
}
