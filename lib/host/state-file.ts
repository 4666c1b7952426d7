import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { z } from 'zod';
import { Failure, type FailureDetails, type FailureKind } from '../base/errors/failure.ts';
import { schemaFaults } from '../base/errors/schema-faults.ts';
import { parseJson } from '../base/json.ts';
import { readTextIfPresent, readTextIfReadable, removeFile, writeFileAtomic } from './files.ts';

/** A file of JSON in which an agent keeps what must outlive it. */
export interface StateFile<Read, Written = Read> {
  readonly path: string;
  /** Undefined if there is none. @throws Failure if it is damaged, unless a damaged one counts as none. */
  read(): Promise<Read | undefined>;
  /** Atomic, and durable when it returns. */
  write(contents: Written): Promise<void>;
  /** Durable when it returns; true if there was one. */
  remove(): Promise<boolean>;
}

/** What is thrown for a damaged file. */
export interface Damaged extends Pick<FailureDetails, 'code'> {
  /** `fatal` if left out; `usage` for a file that a person gave. */
  readonly kind?: FailureKind;
  /** What the file is. */
  readonly expected: string;
  /** What a person can do about it. */
  readonly fix: string;
}

/** How texts get to the disk and back, where keys are among them (`lib/secrets/seal/`). */
export interface TextStore {
  read(path: string): Promise<string | undefined>;
  write(path: string, text: string): Promise<void>;
}

interface Options {
  /**
   * `none`, also if the disk does not give it back: what it says can be found out again, or is not needed. `none-if-read`:
   * then it is not absent, and reading it throws.
   */
  readonly damaged: 'none' | 'none-if-read' | Damaged;
  /** 0600 if left out. */
  readonly mode?: 0o600 | 0o644;
  /** Of the folder, if it is created; 0755 if left out. */
  readonly folderMode?: 0o700;
  /** For a file that people read. */
  readonly isIndented?: boolean;
  readonly store?: TextStore;
}

/** The one way in which agents keep state: a schema for its contents, and a decision what a damaged file means. */
export function stateFile<Read, Written>(
  path: string,
  schema: z.ZodType<Read, Written>,
  options: Options,
): StateFile<Read, Written> {
  const { damaged, isIndented = false, store = plainStore(options) } = options;
  return {
    path,
    async read() {
      const text = await store.read(path);
      if (text === undefined) return undefined;
      const json = parseJson(text);
      const parsed = schema.safeParse(json);
      if (parsed.success) return parsed.data;
      if (damaged === 'none' || damaged === 'none-if-read') return undefined;
      const { kind = 'fatal', ...details } = damaged;
      const found = json === undefined ? 'no JSON' : schemaFaults(parsed.error);
      throw new Failure(kind, `${path} cannot be used`, { ...details, found });
    },
    write: (contents) => store.write(path, stateText(contents, isIndented)),
    remove: () => removeFile(path),
  };
}

/** The contents of such a file, for one that is written together with others. */
export const stateText = (contents: unknown, isIndented: boolean): string =>
  `${JSON.stringify(contents, null, isIndented ? 2 : undefined)}\n`;

const plainStore = ({ damaged, mode = 0o600, folderMode }: Options): TextStore => ({
  read: damaged === 'none' ? readTextIfReadable : readTextIfPresent,
  async write(path, text) {
    if (folderMode !== undefined) await mkdir(dirname(path), { recursive: true, mode: folderMode });
    await writeFileAtomic(path, text, mode);
  },
});
