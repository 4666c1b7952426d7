import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { failureDataSchema } from '../../../lib/base/errors/failure-data.ts';
import { parseJson } from '../../../lib/base/json.ts';
import { readTextIfPresent, syncDirectory, writeFileAtomic } from '../../../lib/host/files.ts';

/** How a row of a table went: a line of `results.jsonl`. Nothing in it is secret. */
export const rowResultSchema = z.object({
  schemaVersion: z.literal(1),
  site: z.string().describe('the cell of the column site, and the folder of its volume'),
  state: z.enum(['done', 'failed']).describe('failed: there is no folder'),
  serial: z.int().describe('of the volume'),
  isEncrypted: z.boolean().describe('false: without private keys'),
  sha256: z
    .string()
    .optional()
    .describe('done: of site-volume.iso; of a folder, that of its site-volume.json'),
  failure: failureDataSchema.optional().describe('failed: why'),
});

export type RowResult = z.infer<typeof rowResultSchema>;

/**
 * The results of a run, each in a line that is on the disk before the next row depends on it. Where a process was killed, only
 * the last line can be incomplete.
 */
export class RowResults implements AsyncDisposable {
  readonly #file: FileHandle;
  readonly #done: Map<string, RowResult>;
  /** Of the lines before. */
  #written: Promise<void> = Promise.resolve();

  private constructor(file: FileHandle, done: Map<string, RowResult>) {
    this.#file = file;
    this.#done = done;
  }

  /** Goes on with a file: rows that failed before, and an incomplete line, are no longer in it. */
  static async open(path: string): Promise<RowResults> {
    const done = doneIn((await readTextIfPresent(path)) ?? '');
    await writeFileAtomic(path, [...done.values()].map(lineOf).join(''), 0o600);
    const file = await open(path, 'a', 0o600);
    await syncDirectory(dirname(path));
    return new RowResults(file, done);
  }

  /** The rows that are done, by their site. */
  get done(): ReadonlyMap<string, RowResult> {
    return this.#done;
  }

  /** @throws the error of the file system, also for lines after one that was not written */
  async add(result: RowResult): Promise<void> {
    const written = this.#written.then(async () => {
      await this.#file.appendFile(lineOf(result));
      await this.#file.datasync();
      if (result.state === 'done') this.#done.set(result.site, result);
    });
    this.#written = written;
    await written;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#written.catch(() => undefined);
    await this.#file.close();
  }
}

const lineOf = (result: RowResult) => `${JSON.stringify(result)}\n`;

function doneIn(text: string): Map<string, RowResult> {
  const done = new Map<string, RowResult>();
  for (const line of text.split('\n')) {
    const parsed = rowResultSchema.safeParse(parseJson(line));
    if (parsed.success && parsed.data.state === 'done') done.set(parsed.data.site, parsed.data);
  }
  return done;
}
