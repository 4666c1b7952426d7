/** A file that is written beside its target, whose name it gets by a rename once it is complete (lib/host/files.ts). */
export const isBeside = (text: string): boolean =>
  /^(open|chmod|writeFile|sync) \S*\/\.[^/]+\.new$/.test(text);

/**
 * Effects of which one begins before another has ended, or that have not ended when the body has: what was not waited for. A
 * process that dies, or another step, may then come before it. Files beside their targets may be written at the same time:
 * nobody reads them before they are renamed, and that must not overlap with anything.
 */
export class Overlaps {
  readonly found: string[] = [];
  readonly #running = new Map<symbol, string>();

  /** Returns what ends it. */
  begun(text: string): () => void {
    for (const other of this.#running.values()) {
      if (!isBeside(text) || !isBeside(other)) this.found.push(`${text} begins during ${other}`);
    }
    const id = Symbol(text);
    this.#running.set(id, text);
    return () => this.#running.delete(id);
  }

  /** The body has ended. */
  ended(): void {
    for (const other of this.#running.values()) this.found.push(`the end comes during ${other}`);
  }
}
