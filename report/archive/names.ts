const MAX_NAME_BYTES = 200;
const MAX_DEPTH = 12;
/** What a terminal or another system reads as more than a name. Names of units have `\x2d` and the like. */
const SPECIAL = /[\p{Cc}\p{Cf}\p{Cs}\u{fffd}]|\\(?!x[0-9a-f]{2})/u;

/** Whether this can be the name of a file or folder everywhere, and leads nowhere else. */
export const isSafeName = (name: string): boolean =>
  !['', '.', '..'].includes(name) &&
  Buffer.byteLength(name) <= MAX_NAME_BYTES &&
  !SPECIAL.test(name);

/**
 * A path of an archive without its first folder (`log-bundle-ID/`); undefined for what has no
 * folder, is too deep, or has a part that is not a safe name.
 */
export function nameInBundle(written: string): string | undefined {
  const parts = written.replace(/^(\.\/)+/, '').split('/');
  const [, ...inside] = parts;
  const isSafe = parts.every(isSafeName) && inside.length > 0 && inside.length <= MAX_DEPTH;
  return isSafe ? inside.join('/') : undefined;
}

/** The names taken so far: none twice, and none below another, which no file system could hold. */
export class TakenNames {
  readonly #files = new Set<string>();
  readonly #folders = new Set<string>();

  /** False if the name cannot be taken. */
  add(name: string): boolean {
    const parts = name.split('/');
    const folders = parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
    if (this.#files.has(name) || this.#folders.has(name)) return false;
    if (folders.some((folder) => this.#files.has(folder))) return false;
    this.#files.add(name);
    for (const folder of folders) this.#folders.add(folder);
    return true;
  }
}
