type Undo = () => Promise<void>;

/**
 * What has to be undone, in reverse order. Every entry is tried, whatever fails
 * before it, because each frees something that would outlive the run.
 */
export class Teardown {
  readonly #undo: { readonly what: string; readonly run: Undo }[] = [];

  add(what: string, run: Undo): void {
    this.#undo.push({ what, run });
  }

  /** Undoes everything once. Throws an AggregateError of what could not be undone. */
  async run(): Promise<void> {
    const errors: Error[] = [];
    for (let entry = this.#undo.pop(); entry !== undefined; entry = this.#undo.pop()) {
      try {
        await entry.run();
      } catch (error) {
        errors.push(new Error(`could not ${entry.what}`, { cause: error }));
      }
    }
    if (errors.length > 0)
      throw new AggregateError(errors, errors.map((e) => e.message).join('; '));
  }
}
