/**
 * Effects of which one begins before another has ended, or that have not ended when the body has: what was not waited for. A
 * process that dies, or another step, may then come before it.
 */
export class Overlaps {
  readonly found: string[] = [];
  readonly #running = new Map<symbol, string>();

  /** Returns what ends it. */
  begun(text: string): () => void {
    for (const other of this.#running.values()) this.found.push(`${text} begins during ${other}`);
    const id = Symbol(text);
    this.#running.set(id, text);
    return () => this.#running.delete(id);
  }

  /** The body has ended. */
  ended(): void {
    for (const other of this.#running.values()) this.found.push(`the end comes during ${other}`);
  }
}
