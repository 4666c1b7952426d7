const MAX_NAME_BYTES = 200;
const MAX_DEPTH = 12;
/** Characters that terminals or other systems interpret. Unit names contain escapes such as `\x2d`. */
const SPECIAL = /[\p{Cc}\p{Cf}\p{Cs}\u{fffd}]|\\(?!x[0-9a-f]{2})/u;

/** Whether this is a valid file or folder name on every system and escapes from no folder. */
export const isSafeName = (name: string): boolean =>
  !['', '.', '..'].includes(name) &&
  Buffer.byteLength(name) <= MAX_NAME_BYTES &&
  !SPECIAL.test(name);

/**
 * A path of an archive without its top-level folder (`log-bundle-ID/`); undefined if it has no
 * folder, is too deep, or a part is not a safe name.
 */
export function nameInBundle(written: string): string | undefined {
  const parts = written.replace(/^(\.\/)+/, '').split('/');
  const [, ...inside] = parts;
  const isSafe = parts.every(isSafeName) && inside.length > 0 && inside.length <= MAX_DEPTH;
  return isSafe ? inside.join('/') : undefined;
}

/** The names already used: no duplicates, and no file below another file. */
export class TakenNames {
  readonly #files = new Set<string>();
  readonly #folders = new Set<string>();

  /** False if the name cannot be used. */
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
