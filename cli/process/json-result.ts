import { z } from 'zod';
import { EXIT } from '../../lib/base/errors/exit-codes.ts';
import { failureData, failureDataSchema } from '../../lib/base/errors/failure-data.ts';
import type { OutsideSno, Surroundings } from '../surroundings.ts';

/**
 * What a command prints on standard output with `--json`: one object, also when it fails. A command line that cannot be
 * read (an unknown option, a missing argument) has no result: exit code 2, and the reason on standard error.
 */
export const snoResultSchema = z.object({
  schemaVersion: z.literal(1),
  command: z.string().describe('without arguments: "create single-node-iso"'),
  exitCode: z.int().describe('0 done; 2 invalid input or usage, nothing written; see "sno --help"'),
  written: z.array(z.string()).describe('paths of the files and folders that were written'),
  notices: z.array(z.string()).describe('what a person should know of the input, a sentence each'),
  output: z.array(z.string()).describe('the lines that are printed without --json'),
  failure: failureDataSchema.optional(),
});

/** `Wrote /x/y (14 KiB)`. */
export const writtenLine = (path: string, note?: string): string =>
  `Wrote ${path}${note === undefined ? '' : ` (${note})`}`;

/** What a command says, as lines for people; from `begin` on it is kept for one JSON object. */
export class JsonResult {
  readonly #outside: OutsideSno;
  readonly #written: string[] = [];
  readonly #notices: string[] = [];
  readonly #output: string[] = [];
  #command: string | undefined;

  constructor(outside: OutsideSno) {
    this.#outside = outside;
  }

  begin(command: string): void {
    this.#command = command;
  }

  /** How a command of `sno` says something. */
  surroundings(): Surroundings {
    const { print, complain } = this.#outside;
    const kept = (list: string[], text: string, say: () => void) => {
      if (this.#command === undefined) say();
      else list.push(text);
    };
    return {
      answers: async function* () {},
      ...this.#outside,
      print: (line) => kept(this.#output, line, () => print(line)),
      notice: (text) => kept(this.#notices, text, () => complain(`Notice: ${text}`)),
      wrote: (path, note) => kept(this.#written, path, () => print(writtenLine(path, note))),
    };
  }

  /** Prints the object, if there is to be one. `error`: why the command failed. */
  end(exitCode: number, error?: unknown): void {
    if (this.#command === undefined) return;
    const result: z.input<typeof snoResultSchema> = {
      schemaVersion: 1,
      command: this.#command,
      exitCode,
      written: this.#written,
      notices: this.#notices,
      output: this.#output,
      ...(exitCode === EXIT.done ? {} : { failure: failureData(error) }),
    };
    this.#outside.print(JSON.stringify(result, null, 2));
  }
}
