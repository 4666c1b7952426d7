/** A file that is written beside its target, whose name it gets by a rename once it is complete (lib/host/files.ts). */
export const isBeside = (text: string): boolean =>
  /^(open|chmod|writeFile|sync) \S*\/\.[^/]+\.new$/.test(text);

/** Requests that change several objects of one kind in the same way may be sent together. */
const isTogether = (text: string, other: string): boolean =>
  /^(PUT|POST|PATCH|DELETE) /.test(text) && withoutName(text) === withoutName(other);
const withoutName = (text: string) => text.replace(/\/[^/]*$/, '');

/**
 * Effects of which one begins before another has ended, or that have not ended when the body has: what was not waited for. A
 * process that dies, or another step, may then come before it. Files beside their targets may be written at the same time:
 * nobody reads them before they are renamed, and that must not overlap with anything.
 */
export class Overlaps {
  readonly found: string[] = [];
  #isOver = false;
  readonly #running = new Map<symbol, string>();

  /** Returns what ends it. */
  begun(text: string): () => void {
    if (this.#isOver) this.found.push(`the end comes before ${text}`);
    for (const other of this.#running.values()) {
      const mayOverlap = (isBeside(text) && isBeside(other)) || isTogether(text, other);
      if (!mayOverlap) this.found.push(`${text} begins during ${other}`);
    }
    const id = Symbol(text);
    this.#running.set(id, text);
    return () => this.#running.delete(id);
  }

  /** The body has ended: nothing may begin any more. */
  ended(): void {
    this.#isOver = true;
    for (const other of this.#running.values()) this.found.push(`the end comes during ${other}`);
  }
}
