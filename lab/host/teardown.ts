import { describeError } from '../../lib/base/errors/failure.ts';

type Undo = () => Promise<void>;

/**
 * Clean-up actions, run in reverse order. Every action is tried even if others fail, because
 * each frees something that would outlive the run.
 */
export class Teardown {
  readonly #undo: { readonly what: string; readonly run: Undo }[] = [];

  add(what: string, run: Undo): void {
    this.#undo.push({ what, run });
  }

  /** Runs everything once. Throws an AggregateError of the failures. */
  async run(): Promise<void> {
    const errors: Error[] = [];
    for (let entry = this.#undo.pop(); entry !== undefined; entry = this.#undo.pop()) {
      try {
        await entry.run();
      } catch (error) {
        errors.push(
          new Error(`could not ${entry.what}: ${describeError(error)}`, { cause: error }),
        );
      }
    }
    if (errors.length > 0)
      throw new AggregateError(errors, errors.map((e) => e.message).join('; '));
  }
}
