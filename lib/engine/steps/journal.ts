import { mkdir, open, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { Failure } from '../../base/errors/failure.ts';
import { failureDataSchema } from '../../base/errors/failure-data.ts';
import { parseJson } from '../../base/json.ts';
import { isMissing, syncDirectory } from '../../host/files.ts';

const entrySchema = z.object({
  /** Wall clock, for people. */
  at: z.string(),
  /** Boot id and seconds since that boot: deadlines use these, since a wall clock may be wrong. */
  boot: z.string(),
  up: z.number(),
  step: z.string(),
  /** Fingerprint of the step's input. */
  input: z.string(),
  event: z.enum(['started', 'attempt-failed', 'stopped', 'done', 'failed', 'reboot']),
  attempt: z.number().int(),
  /** On `done`: duration of the successful run, and how much of it was spent waiting for others. */
  seconds: z.number().optional(),
  waited: z.number().optional(),
  /** On `done`: processor time of the agent itself. */
  cpu: z.number().optional(),
  /** On `failed` and `attempt-failed`. */
  failure: failureDataSchema.optional(),
  /** On `reboot`: why. */
  reason: z.string().optional(),
  note: z.string().optional(),
});

export type JournalEntry = z.infer<typeof entrySchema>;

/** The durable memory of a plan: one JSON object per line, synced before the next step begins. */
export class Journal {
  readonly path: string;
  readonly entries: JournalEntry[];

  private constructor(path: string, entries: JournalEntry[]) {
    this.path = path;
    this.entries = entries;
  }

  static async open(path: string): Promise<Journal> {
    return new Journal(path, await readJournal(path));
  }

  /** @throws Failure (retry) if it cannot be written: an agent must not continue without it. */
  async append(entry: JournalEntry): Promise<void> {
    try {
      await this.#append(entry);
    } catch (cause) {
      throw new Failure('retry', `cannot write the step journal ${this.path}`, {
        code: 'journal-unwritable',
        fix: 'Free space on its file system.',
        cause,
      });
    }
  }

  async #append(entry: JournalEntry): Promise<void> {
    await mkdir(dirname(this.path), { recursive: true, mode: 0o755 });
    const file = await open(this.path, 'a', 0o644);
    try {
      const { size } = await file.stat();
      // A power cut may have left a torn last line; a newline separates this entry from it.
      const apart = size > 0 && !(await endsWithNewline(this.path, size)) ? '\n' : '';
      await file.appendFile(`${apart}${JSON.stringify(entry)}\n`);
      await file.datasync();
      if (size === 0) await syncDirectory(dirname(this.path));
    } finally {
      await file.close();
    }
    this.entries.push(entry);
  }
}

/**
 * All complete entries of a journal file; none if it does not exist. Skips torn and
 * foreign lines.
 */
export async function readJournal(path: string): Promise<JournalEntry[]> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
  return text.split('\n').flatMap((line) => {
    const entry = entrySchema.safeParse(parseJson(line));
    return entry.success ? [entry.data] : [];
  });
}

async function endsWithNewline(path: string, size: number): Promise<boolean> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
    return bytesRead === 1 && buffer[0] === 0x0a;
  } finally {
    await file.close();
  }
}
